import type { InstanceStatus } from "../../tables.ts";

export interface MonitoredInstance {
  status: InstanceStatus;
  wanted: "stopped" | "connected";
  messages_24h: number;
  failures_24h: number;
  seconds_since_last_inbound: number | null;
}

const DAY_SECONDS = 86_400;
const FEWEST_TO_JUDGE = 20;

const BY_STATUS: Partial<Record<InstanceStatus, string>> = {
  created: "Connect it and scan the QR with the phone.",
  qr_pending: "Scan the QR with the phone.",
  qr_expired: "Connect it again and scan the new QR.",
  passkey_required: "Confirm the sign-in on the phone.",
  logged_out: "The phone has unlinked it: connect it again and scan the QR.",
  banned: "The network has banned the number: appeal in the phone's app, or pair another number.",
  error: "Reconnect it; last_disconnect_reason says what went wrong.",
  reconnecting: "It comes back by itself; if it does not, see that the phone is online.",
};

/** Advice for an instance; null: none. */
export function recommendAction(state: MonitoredInstance): string | null {
  const { status, wanted, messages_24h, failures_24h, seconds_since_last_inbound: silence } = state;
  if (status === "disconnected") return wanted === "connected" ? "Reconnect it." : null;
  if (status !== "connected") return BY_STATUS[status] ?? null;
  if (messages_24h >= FEWEST_TO_JUDGE && failures_24h * 5 >= messages_24h) {
    return "One message in five fails or more: see the errors of its failed messages.";
  }
  if (silence !== null && silence > DAY_SECONDS && messages_24h >= FEWEST_TO_JUDGE) {
    return "Nothing has come in for a day although it sends: write to it from another phone, and reconnect it.";
  }
  return null;
}
