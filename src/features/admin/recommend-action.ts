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

const BY_REASON = {
  failures: "One message in five fails or more: see the errors of its failed messages.",
  silence:
    "Nothing has come in for a day although it sends: write to it from another phone, and reconnect it.",
};

interface Advice {
  /** What the advice is about. */
  action_reason: "status" | keyof typeof BY_REASON | null;
  recommended_action: string | null;
}

const NO_ADVICE: Advice = { action_reason: null, recommended_action: null };

/** Advice for an instance, if it needs any. */
export function recommendAction(state: MonitoredInstance): Advice {
  if (state.status !== "connected") return adviseOnStatus(state);
  const reason = findTroubleOf(state);
  return reason ? { action_reason: reason, recommended_action: BY_REASON[reason] } : NO_ADVICE;
}

function adviseOnStatus({ status, wanted }: MonitoredInstance): Advice {
  const lost = status === "disconnected" && wanted === "connected" ? "Reconnect it." : undefined;
  const advice = lost ?? BY_STATUS[status];
  return advice === undefined ? NO_ADVICE : { action_reason: "status", recommended_action: advice };
}

function findTroubleOf(state: MonitoredInstance): keyof typeof BY_REASON | undefined {
  const { messages_24h, failures_24h, seconds_since_last_inbound: silence } = state;
  if (messages_24h < FEWEST_TO_JUDGE) return undefined;
  if (failures_24h * 5 >= messages_24h) return "failures";
  return silence !== null && silence > DAY_SECONDS ? "silence" : undefined;
}
