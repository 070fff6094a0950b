import type { SessionOperations } from "./driver.ts";
import type { OperationResult } from "./session-operations.ts";

export type OperationGroup = "contacts" | "chats" | "profile" | "groups" | "passkey";

/** The only list of the session operations; `rejectCall`, `setPresence` and `downloadMedia` belong to no group. */
const OPERATION_GROUPS = {
  contacts: ["check", "info", "setBlocked", "blocked", "synchronise"],
  chats: ["setState"],
  profile: ["get", "setName", "setAbout", "setPicture"],
  groups: ["list", "get", "create", "updateParticipants", "update", "invite", "join", "leave"],
  passkey: ["submitAssertion", "confirm", "cancel"],
} as const satisfies { [Group in OperationGroup]: readonly (keyof NonNullable<SessionOperations[Group]>)[] };

/** The operations of a group, all run by one function. */
export function createOperationGroup<Group extends OperationGroup>(
  group: Group,
  run: (method: string, args: unknown[]) => Promise<unknown>,
): NonNullable<SessionOperations[Group]> {
  return Object.fromEntries(
    OPERATION_GROUPS[group].map((method) => [method, (...args: unknown[]) => run(method, args)]),
  ) as unknown as NonNullable<SessionOperations[Group]>;
}

/** The operations of a group, each run on the target of that moment; without a target, the result is `otherwise`. */
export function forwardOperations<Group extends OperationGroup>(
  group: Group,
  targetNow: () => SessionOperations[Group],
  otherwise: OperationResult<never>,
): NonNullable<SessionOperations[Group]> {
  return createOperationGroup(group, async (method, args) => {
    const target = targetNow();
    return target ? callOperation(target, method, args) : otherwise;
  });
}

/** Calls an operation by its name; undefined if the target lacks it. */
export function callOperation(target: object, method: string, args: unknown[]): unknown {
  return (target as Record<string, ((...args: unknown[]) => unknown) | undefined>)[method]?.(...args);
}

/** Whether a name from another process is that of an operation. */
export function isOperation(group: string, method: string): group is OperationGroup {
  if (!Object.hasOwn(OPERATION_GROUPS, group)) return false;
  return (OPERATION_GROUPS[group as OperationGroup] as readonly string[]).includes(method);
}
