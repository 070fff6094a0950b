import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { createQuestion } from "./question.ts";

/** Asks for the password when a request needs it again. */
export const passwordQuestion = createQuestion(isPasswordRequired);

export function isPasswordRequired(error: unknown): boolean {
  return error instanceof WaygateError && error.code === "PASSWORD_REQUIRED";
}
