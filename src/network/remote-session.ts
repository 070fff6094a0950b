import { createOperations, findDeclaration, findOperation } from "./operation-groups.ts";
import { type ReachableSession, SESSION_OPERATIONS, type SessionOperations } from "./session-operations.ts";

/** An operation for the process that holds the session: plain data, bytes and dates. */
export interface RemoteOperation {
  instance: number;
  /** Such as `groups.create`. */
  name: string;
  args: unknown[];
}

/** `unreachable`: nothing was done; `unknown`: the operation may have been done. */
export type RemoteOperationResult =
  | { outcome: "value"; value: unknown }
  | { outcome: "unreachable" | "unknown"; reason: string };

const ALL = Object.keys(SESSION_OPERATIONS) as (keyof SessionOperations)[];

/** A session that another process holds. */
export function createRemoteSession(
  instance: number,
  request: (operation: RemoteOperation) => Promise<RemoteOperationResult>,
): ReachableSession {
  return createOperations(ALL, async (name, args) => {
    const result = await request({ instance, name, args });
    if (result.outcome === "value") return result.value;
    const { outcome, reason } = result;
    return { outcome: outcome === "unreachable" ? findDeclaration(name)?.unreachable : outcome, reason };
  });
}

/** A session that this process holds. */
export function createLocalSession(session: SessionOperations): ReachableSession {
  return createOperations(ALL, (name, args) => runOperation(session, name, args));
}

/** Runs an operation for another process. */
export function runRemoteOperation(
  session: SessionOperations,
  { name, args }: Omit<RemoteOperation, "instance">,
): Promise<unknown> {
  // Between processes null stands for an argument that is absent.
  const isAbsent = findDeclaration(name)?.isLastOptional === true && args.at(-1) === null;
  return runOperation(session, name, isAbsent ? args.slice(0, -1) : args);
}

/** Whether an operation is for a session in pairing instead of a connected one. */
export function isPairingOperation(name: string): boolean {
  return findDeclaration(name)?.during === "pairing";
}

async function runOperation(session: SessionOperations, name: string, args: unknown[]): Promise<unknown> {
  const run = findOperation(session, name);
  return run ? run(...args) : NOT_SUPPORTED;
}

const NOT_SUPPORTED = {
  outcome: "refused",
  code: "NOT_SUPPORTED",
  why: "not_supported",
  reason: "The instance's network does not support this operation.",
  retryable: false,
} as const;
