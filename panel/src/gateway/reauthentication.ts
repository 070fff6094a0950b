import { useSyncExternalStore } from "react";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";

type Method = (...input: never[]) => Promise<unknown>;

/** What the user must do before refused requests can be repeated. */
export interface Question {
  /** true: it is done, and the refused requests are repeated. */
  answer(isDone: boolean): void;
}

/** A question of which at most one waits for its answer. It is asked only while a component shows it. */
interface QuestionStore {
  /** The same methods, which ask and repeat a request that `isAsked` names. */
  asking<Methods extends Record<string, Method>>(methods: Methods): Methods;
  subscribe(listener: () => void): () => void;
  current(): Question | undefined;
}

export function createQuestion(isAsked: (error: unknown) => boolean): QuestionStore {
  const listeners = new Set<() => void>();
  let question: (Question & { answered: Promise<boolean> }) | undefined;

  const set = (next: typeof question) => {
    question = next;
    for (const listener of listeners) listener();
  };

  /** Requests that are refused at the same time share one question. */
  const ask = (): Promise<boolean> => {
    if (question !== undefined) return question.answered;
    let answer: (isDone: boolean) => void = () => {};
    const answered = new Promise<boolean>((resolve) => {
      answer = (isDone) => {
        // A second answer must not end the next question.
        if (question?.answer === answer) set(undefined);
        resolve(isDone);
      };
    });
    set({ answer, answered });
    return answered;
  };

  return {
    asking: (methods) => mapMethods(methods, (method) => repeating(method, mayRepeat)),
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        // The pages are left, so nobody can answer any more.
        if (listeners.size === 0) question?.answer(false);
      };
    },
    current: () => question,
  };

  async function mayRepeat(error: unknown): Promise<boolean> {
    return isAsked(error) && listeners.size > 0 && (await ask());
  }
}

function mapMethods<Methods extends Record<string, Method>>(
  methods: Methods,
  change: (method: Method) => Method,
): Methods {
  const changed = Object.entries(methods).map(([name, method]) => [name, change(method)]);
  return Object.fromEntries(changed) as Methods;
}

function repeating(method: Method, mayRepeat: (error: unknown) => Promise<boolean>): Method {
  return async (...input) => {
    try {
      return await method(...input);
    } catch (error) {
      if (!(await mayRepeat(error))) throw error;
      return method(...input);
    }
  };
}

/** Asks for the password when a request needs it again. */
export const passwordQuestion = createQuestion(isPasswordRequired);

export function isPasswordRequired(error: unknown): boolean {
  return error instanceof WaygateError && error.code === "PASSWORD_REQUIRED";
}

/** Asks for a new sign-in when the session has ended. */
export const sessionQuestion = createQuestion(isSessionEnded);

/** A wrong password has the same status, but another code. */
export function isSessionEnded(error: unknown): boolean {
  return error instanceof WaygateError && (error.code === "AUTH_REQUIRED" || error.code === "INVALID_TOKEN");
}

/** The question that waits for an answer. Its requests wait while the component is shown. */
export function useQuestion({ subscribe, current }: QuestionStore): Question | undefined {
  return useSyncExternalStore(subscribe, current);
}
