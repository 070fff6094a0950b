import type { InstanceStatus } from "../../tables.ts";

/** Statuses of an instance that is being paired. */
export const PAIRING_STATUSES = ["connecting", "qr_pending", "passkey_required"] as const;

/** Statuses of a paired instance that is connected, or reconnects by itself. */
export const ONLINE_STATUSES = ["connected", "reconnecting"] as const;

/** Statuses of an instance that has, or is about to have, a live session. */
export const LIVE_STATUSES: readonly InstanceStatus[] = [...PAIRING_STATUSES, ...ONLINE_STATUSES];

interface ShownStatus {
  status: InstanceStatus;
  last_disconnect_reason: string | null;
}

/** An instance as requests see it: without a node that holds sessions, none is connected. */
export function asReached<Shown extends ShownStatus>(shown: Shown, hasSessionNode: boolean): Shown {
  if (hasSessionNode || shown.status !== "connected") return shown;
  const status = "reconnecting";
  const names = "connection_status" in shown ? { status, connection_status: status } : { status };
  return { ...shown, ...names, last_disconnect_reason: "no_session_node" };
}
