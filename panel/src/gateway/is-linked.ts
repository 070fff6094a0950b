import type { InstanceState } from "./gateway.ts";

const GONE = new Set<InstanceState["status"]>(["logged_out", "banned"]);

/** Whether the gateway keeps a message for the instance until it is connected. Otherwise it refuses the message. */
export function isLinked({
  connected,
  jid,
  status,
}: Pick<InstanceState, "connected" | "jid" | "status">): boolean {
  return connected || (jid !== null && !GONE.has(status));
}
