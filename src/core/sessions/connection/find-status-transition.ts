import type { DisconnectReason, NetworkEvent, SessionStartFailure } from "../../../network/driver.ts";
import type { InstanceStatus } from "../../../tables.ts";
import { LIVE_STATUSES, ONLINE_STATUSES, PAIRING_STATUSES } from "../../instances/instances.ts";

/** An event of a session's connection; `failed`: the session could not be opened. */
export type ConnectionEvent =
  | Extract<NetworkEvent, { type: (typeof CONNECTION_EVENTS)[number] }>
  | { type: "failed"; reason: string; detail?: string };

const CONNECTION_EVENTS = [
  "qr",
  "pairing_code",
  "qr_expired",
  "pairing_failed",
  "passkey_required",
  "connected",
  "disconnected",
  "logged_out",
  "banned",
] as const;

export function isConnectionEvent(
  event: NetworkEvent,
): event is Exclude<ConnectionEvent, { type: "failed" }> {
  return CONNECTION_EVENTS.some((type) => type === event.type);
}

const ANY = [
  ...LIVE_STATUSES,
  "created",
  "qr_expired",
  "disconnected",
  "logged_out",
  "banned",
  "error",
] as const;

interface Transition {
  on: Exclude<ConnectionEvent["type"], "disconnected"> | "dropped" | "closed" | "outdated" | "ended";
  from: readonly InstanceStatus[];
  to: InstanceStatus;
  /** Final: only the customer can connect it again. */
  isFinal?: true;
}

/** Every status change that a session can cause; all other events leave the status unchanged. */
const TRANSITIONS: readonly Transition[] = [
  { on: "qr", from: [...PAIRING_STATUSES, "reconnecting"], to: "qr_pending" },
  { on: "pairing_code", from: [...PAIRING_STATUSES, "reconnecting"], to: "qr_pending" },
  { on: "qr_expired", from: [...PAIRING_STATUSES, "reconnecting"], to: "qr_expired", isFinal: true },
  { on: "pairing_failed", from: ["connecting"], to: "connecting" },
  { on: "pairing_failed", from: ["qr_pending"], to: "qr_pending" },
  { on: "pairing_failed", from: ["passkey_required"], to: "passkey_required" },
  { on: "passkey_required", from: PAIRING_STATUSES, to: "passkey_required" },
  { on: "connected", from: ANY, to: "connected" },
  { on: "dropped", from: ONLINE_STATUSES, to: "reconnecting" },
  { on: "dropped", from: PAIRING_STATUSES, to: "connecting" },
  { on: "dropped", from: ["error"], to: "connecting" },
  { on: "closed", from: ONLINE_STATUSES, to: "reconnecting" },
  { on: "closed", from: PAIRING_STATUSES, to: "disconnected", isFinal: true },
  { on: "outdated", from: LIVE_STATUSES, to: "error" },
  { on: "ended", from: LIVE_STATUSES, to: "disconnected", isFinal: true },
  { on: "logged_out", from: [...LIVE_STATUSES, "error"], to: "logged_out", isFinal: true },
  { on: "banned", from: [...LIVE_STATUSES, "error"], to: "banned", isFinal: true },
  { on: "failed", from: LIVE_STATUSES, to: "error" },
];

/** The status after an event; undefined if nothing changes. A stopped instance ignores its session. */
export function findStatusTransition(
  instance: { status: InstanceStatus; wanted: "stopped" | "connected" },
  event: ConnectionEvent,
): { to: InstanceStatus; isFinal: boolean } | undefined {
  if (instance.wanted === "stopped") return undefined;
  const on = kindOf(event);
  const found = TRANSITIONS.find((row) => row.on === on && row.from.includes(instance.status));
  return found && { to: found.to, isFinal: found.isFinal ?? false };
}

/** A session that the gateway closes is not final: the next owner opens it again. */
function kindOf(event: ConnectionEvent): Transition["on"] {
  if (event.type !== "disconnected") return event.type;
  if (event.will_retry) return "dropped";
  if (isStartFault(event.reason)) return "failed";
  return event.reason === "closed" || event.reason === "outdated" ? event.reason : "ended";
}

/** Causes in the gateway itself, which the operator must fix. */
export const SESSION_START_FAILURES: readonly SessionStartFailure[] = [
  "library_failed",
  "credentials_unreadable",
  "session_failed",
];

function isStartFault(reason: DisconnectReason): boolean {
  return SESSION_START_FAILURES.some((fault) => fault === reason);
}
