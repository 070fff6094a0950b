import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { createQuestion } from "./question.ts";

/** Asks for a new sign-in when the session has ended. */
export const sessionQuestion = createQuestion(isSessionEnded);

/** A wrong password has the same status, but another code. */
export function isSessionEnded(error: unknown): boolean {
  return error instanceof WaygateError && (error.code === "AUTH_REQUIRED" || error.code === "INVALID_TOKEN");
}
