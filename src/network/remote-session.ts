import { PassThrough, type Readable } from "node:stream";
import type { SendResult, Session, SessionOperations } from "./driver.ts";
import type { Jid } from "./identity.ts";
import { callOperation, createOperationGroup, isOperation, type OperationGroup } from "./operation-groups.ts";
import type { OperationResult } from "./session-operations.ts";

/** An operation for the process that holds the session: plain data, bytes and dates. */
export interface RemoteOperation {
  instance: number;
  /** Such as `groups.create`. */
  call: string;
  args: unknown[];
}

/** `unreachable`: nothing was done; `unknown`: the operation may have been done. */
export type RemoteOperationResult =
  | { outcome: "value"; value: unknown }
  | { outcome: "stream"; body: Readable }
  | { outcome: "unreachable" | "unknown"; reason: string };

/** The session operations of a session that another process holds. */
export function createRemoteSession(
  instance: number,
  ask: (call: RemoteOperation) => Promise<RemoteOperationResult>,
): SessionOperations {
  const call = async (name: string, args: unknown[]): Promise<OperationResult<never>> => {
    const answer = await ask({ instance, call: name, args });
    if (answer.outcome === "value") return answer.value as OperationResult<never>;
    return {
      outcome: answer.outcome === "unreachable" ? "unreachable" : "unknown",
      reason: reasonOf(answer),
    };
  };
  const group = <Group extends OperationGroup>(name: Group) =>
    createOperationGroup(name, (method, args) => call(`${name}.${method}`, args));

  return {
    contacts: group("contacts"),
    chats: group("chats"),
    profile: group("profile"),
    groups: group("groups"),
    passkey: group("passkey"),
    rejectCall: (call_id, from) => call("rejectCall", [call_id, from]),
    async setPresence(presence, to) {
      const answer = await ask({ instance, call: "setPresence", args: [presence, to ?? null] });
      if (answer.outcome === "value") return answer.value as SendResult;
      return { outcome: answer.outcome === "unreachable" ? "not_sent" : "unknown", reason: reasonOf(answer) };
    },
    async downloadMedia(ref, onChunk) {
      const answer = await ask({ instance, call: "downloadMedia", args: [ref] });
      if (answer.outcome === "value" && answer.value === "gone") return "gone";
      if (answer.outcome !== "stream") throw new Error(reasonOf(answer));
      for await (const chunk of answer.body) await onChunk(chunk as Uint8Array);
      return "done";
    },
  };
}

/** Whether an operation is for a session in pairing instead of a connected one. */
export function isPairingOperation(call: string): boolean {
  return call.startsWith("passkey.");
}

function reasonOf(answer: RemoteOperationResult): string {
  return "reason" in answer ? answer.reason : "The other process answered something else.";
}

const NOT_SUPPORTED = {
  outcome: "refused",
  code: "NOT_SUPPORTED",
  reason: "The instance's network does not support this operation.",
  retryable: false,
} as const;

/** Runs an operation for another process; returns its result or the stream of a file. */
export async function runRemoteOperation(
  session: Session,
  { call, args }: Omit<RemoteOperation, "instance">,
): Promise<unknown> {
  if (call === "downloadMedia") return streamMedia(session, args[0]);
  if (call === "setPresence") {
    const [presence, to] = args as [Parameters<NonNullable<Session["setPresence"]>>[0], Jid | null];
    return (await session.setPresence?.(presence, to ?? undefined)) ?? NOT_SUPPORTED;
  }
  if (call === "rejectCall") {
    const [call_id, from] = args as [string, Jid];
    return (await session.rejectCall?.(call_id, from)) ?? NOT_SUPPORTED;
  }
  const [group = "", method = ""] = call.split(".");
  const operations = isOperation(group, method) ? session[group] : undefined;
  return (operations && (await callOperation(operations, method, args))) ?? NOT_SUPPORTED;
}

/** Waits for the first chunk, so that a missing file is detected before the response starts. */
async function streamMedia(session: Session, ref: unknown): Promise<unknown> {
  if (!session.downloadMedia) return NOT_SUPPORTED;
  const body = new PassThrough();
  const begun = new Promise<"begun">((resolve) => body.once("readable", () => resolve("begun")));
  const ended = session.downloadMedia(ref, async (chunk) => {
    if (!body.write(chunk)) await drained(body);
  });
  const first = await Promise.race([begun, ended]);
  if (first === "gone") return "gone";
  ended.then(
    () => body.end(),
    (error: Error) => body.destroy(error),
  );
  return body;
}

/** Also resolves when the reader disconnects, so that the writer never waits forever. */
function drained(body: PassThrough): Promise<void> {
  return new Promise((resolve, reject) => {
    body.once("drain", resolve);
    body.once("close", () => reject(new Error("the reader of the response has disconnected")));
  });
}
