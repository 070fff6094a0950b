import { useSyncExternalStore } from "react";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";

export interface PasswordQuestion {
  /** true: the password is confirmed, and the refused requests are repeated. */
  answer(isConfirmed: boolean): void;
}

type Method = (...input: never[]) => Promise<unknown>;

let question: (PasswordQuestion & { answered: Promise<boolean> }) | undefined;
const listeners = new Set<() => void>();

/** The same methods, which ask for the password and repeat a request that needs it. */
export function askingForPassword<Methods extends Record<string, Method>>(methods: Methods): Methods {
  const asking = Object.entries(methods).map(([name, method]) => [
    name,
    async (...input: never[]) => {
      try {
        return await method(...input);
      } catch (error) {
        if (!isPasswordRequired(error) || listeners.size === 0 || !(await ask())) throw error;
        return method(...input);
      }
    },
  ]);
  return Object.fromEntries(asking) as Methods;
}

export function isPasswordRequired(error: unknown): boolean {
  return error instanceof WaygateError && error.code === "PASSWORD_REQUIRED";
}

/** Requests that are refused at the same time share one question. */
function ask(): Promise<boolean> {
  if (question !== undefined) return question.answered;
  let answer: (isConfirmed: boolean) => void = () => {};
  const answered = new Promise<boolean>((resolve) => {
    answer = (isConfirmed) => {
      setQuestion(undefined);
      resolve(isConfirmed);
    };
  });
  setQuestion({ answer, answered });
  return answered;
}

function setQuestion(next: typeof question): void {
  question = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The question that waits for an answer. */
export function usePasswordQuestion(): PasswordQuestion | undefined {
  return useSyncExternalStore(subscribe, () => question);
}
