import { useSyncExternalStore } from "react";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";

type Method = (...input: never[]) => Promise<unknown>;

/** A pending sign-in or password confirmation. */
export interface Reauthentication {
  /** true repeats the refused requests. */
  finish(isDone: boolean): void;
}

/** At most one reauthentication is pending, and only while a component shows it. */
interface ReauthenticationStore {
  /** The same methods, which reauthenticate and repeat a request if `isNeeded` matches its error. */
  retrying<Methods extends Record<string, Method>>(methods: Methods): Methods;
  subscribe(listener: () => void): () => void;
  current(): Reauthentication | undefined;
}

export function createReauthentication(isNeeded: (error: unknown) => boolean): ReauthenticationStore {
  const listeners = new Set<() => void>();
  let pending: (Reauthentication & { finished: Promise<boolean> }) | undefined;

  const set = (next: typeof pending) => {
    pending = next;
    for (const listener of listeners) listener();
  };

  /** Requests refused at the same time share one reauthentication. */
  const request = (): Promise<boolean> => {
    if (pending !== undefined) return pending.finished;
    let finish: (isDone: boolean) => void = () => {};
    const finished = new Promise<boolean>((resolve) => {
      finish = (isDone) => {
        // A second call must not end the next reauthentication.
        if (pending?.finish === finish) set(undefined);
        resolve(isDone);
      };
    });
    set({ finish, finished });
    return finished;
  };

  return {
    retrying: (methods) => mapMethods(methods, (method) => repeating(method, mayRepeat)),
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        // The component is unmounted, so nobody can finish it.
        if (listeners.size === 0) pending?.finish(false);
      };
    },
    current: () => pending,
  };

  async function mayRepeat(error: unknown): Promise<boolean> {
    return isNeeded(error) && listeners.size > 0 && (await request());
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

/** Confirms the password. */
export const passwordReauthentication = createReauthentication(isPasswordRequired);

export function isPasswordRequired(error: unknown): boolean {
  return error instanceof WaygateError && error.code === "PASSWORD_REQUIRED";
}

/** Signs in again after the session has ended. */
export const sessionReauthentication = createReauthentication(isSessionEnded);

/** A wrong password has the same status with another code. */
export function isSessionEnded(error: unknown): boolean {
  return error instanceof WaygateError && (error.code === "AUTH_REQUIRED" || error.code === "INVALID_TOKEN");
}

/** The pending reauthentication. Its requests wait while the component is mounted. */
export function useReauthentication({
  subscribe,
  current,
}: ReauthenticationStore): Reauthentication | undefined {
  return useSyncExternalStore(subscribe, current);
}
