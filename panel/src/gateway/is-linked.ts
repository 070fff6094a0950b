import type { InstanceState } from "./gateway.ts";

const GONE = new Set<InstanceState["status"]>(["logged_out", "banned"]);

/** Whether the gateway queues messages for the instance until it is connected, instead of refusing them. */
export function isLinked({
  connected,
  jid,
  status,
}: Pick<InstanceState, "connected" | "jid" | "status">): boolean {
  return connected || (jid !== null && !GONE.has(status));
}
