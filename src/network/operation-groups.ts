import {
  type DeclaredOperation,
  type OperationResult,
  type ReachableSession,
  SESSION_OPERATIONS,
  type SessionOperations,
} from "./session-operations.ts";

type AnyOperation = DeclaredOperation<unknown>;
type RunOperation = (...args: unknown[]) => Promise<unknown>;

/** All declared operations by their full names, such as `groups.create`. */
const DECLARED = new Map(
  Object.entries<AnyOperation | Record<string, AnyOperation>>(SESSION_OPERATIONS).flatMap(
    ([name, declared]): [string, AnyOperation][] =>
      isOperation(declared)
        ? [[name, declared]]
        : Object.entries(declared).map(([method, one]) => [`${name}.${method}`, one]),
  ),
);

function isOperation(declared: object): declared is AnyOperation {
  return "during" in declared;
}

/** Undefined for a name that is not declared. */
export function findDeclaration(name: string): AnyOperation | undefined {
  return DECLARED.get(name);
}

/** The operation of a session by its full name; undefined if it is not declared or the network lacks it. */
export function findOperation(session: SessionOperations, name: string): RunOperation | undefined {
  if (!DECLARED.has(name)) return undefined;
  const [first = "", method] = name.split(".");
  const owner: unknown = method === undefined ? session : session[first as keyof SessionOperations];
  return (owner as Record<string, RunOperation> | undefined)?.[method ?? first]?.bind(owner);
}

/** The declared operations of these names, all run by one function that gets their full names. */
export function createOperations<Name extends keyof SessionOperations>(
  names: readonly Name[],
  run: (name: string, args: unknown[]) => Promise<unknown>,
): Pick<ReachableSession, Name> {
  const create =
    (name: string) =>
    (...args: unknown[]) =>
      run(name, args);
  const operations = names.map((name) => {
    const declared = SESSION_OPERATIONS[name];
    if (isOperation(declared)) return [name, create(name)];
    const methods = Object.keys(declared).map((method) => [method, create(`${name}.${method}`)]);
    return [name, Object.fromEntries(methods)];
  });
  return Object.fromEntries(operations);
}

export type OperationGroup = Exclude<keyof SessionOperations, "setPresence">;

/** The operations of a group, each run on the target of that moment; without a target, the result is `otherwise`. */
export function forwardOperations<Group extends OperationGroup>(
  group: Group,
  targetNow: () => SessionOperations[Group],
  otherwise: OperationResult<never>,
): ReachableSession[Group] {
  const operations = createOperations([group], async (name, args) => {
    const target = targetNow();
    return target ? findOperation({ [group]: target }, name)?.(...args) : otherwise;
  });
  return operations[group];
}
