import { sql } from "kysely";
import type { Engine, Lane } from "../../../engine/engine.ts";
import { lockOwnedLanes } from "../../../engine/lane-store.ts";
import type { Identity, PairingError } from "../../../network/driver.ts";
import type { PasskeyState } from "../../../network/session-operations.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { cleanJson } from "../../../platform/text/clean-text.ts";
import type { PasskeyRow } from "../../../tables.ts";
import {
  changeStatus,
  findAndLockInstance,
  type InstanceColumnChange,
  type InstanceStatusChange,
} from "../../instances/instances.ts";
import { hasCredential } from "../credential-store.ts";
import { type ConnectionEvent, findStatusTransition } from "./find-status-transition.ts";
import { toQrDataUrl } from "./qr-code-image.ts";
import { QR_ADVICE } from "./to-connection-view.ts";

export interface ConnectionRecorder {
  /** Resolves once the session's event is stored. Rejects if this node no longer owns the lane. */
  record(instanceId: number, event: ConnectionEvent): Promise<void>;
}

export interface ConnectionRecorderOptions {
  db: Db;
  engine: Pick<Engine, "node" | "findOwnedLane" | "markLaneLost" | "wake" | "publish">;
}

export function createConnectionRecorder({ db, engine }: ConnectionRecorderOptions): ConnectionRecorder {
  return {
    async record(instanceId, event) {
      const lane = engine.findOwnedLane("session", String(instanceId));
      const lanes = lane && (await recordEvent(db, engine.node.id, lane, event));
      if (lane && !lanes) engine.markLaneLost(lane.id);
      if (!lanes) throw new Error(`This node does not own the session of instance ${instanceId} any more.`);
      engine.wake(lanes);
      engine.publish("instance", String(instanceId));
    },
  };
}

/** Returns the lanes to wake; undefined if the lane is lost and nothing was recorded. */
async function recordEvent(
  db: Db,
  node: string,
  lane: Lane,
  event: ConnectionEvent,
): Promise<number[] | undefined> {
  // Rendered before the transaction, so that the work holds no lock.
  const image = event.type === "qr" ? await toQrDataUrl(event.qr) : "";
  return db.transaction().execute(async (trx) => {
    const owned = await lockOwnedLanes(node, [lane]).execute(trx);
    if (owned.rows.length === 0) return undefined;
    const row = await findAndLockInstance(trx, Number(lane.key));
    const found = row && findStatusTransition(row, event);
    if (!found) return [];
    const change = describeChange(event, image);
    const isFinal = found.isFinal || (await isRefusedPairing(trx, row.id, event));
    const set = { ...change.set, ...(isFinal && { wanted: "stopped" as const }) };
    return changeStatus(trx, row, { ...change, status: found.to, set });
  });
}

/** Whether WhatsApp rejected an unpaired instance. A newer version reconnects only paired ones. */
async function isRefusedPairing(trx: Trx, id: number, event: ConnectionEvent): Promise<boolean> {
  const isRefused = event.type === "disconnected" && event.reason === "outdated" && !event.will_retry;
  return isRefused && !(await hasCredential(trx, id));
}

/** An instance without pairing; the log and the events retain its former identity. */
export const NO_IDENTITY = {
  phone: null,
  jid: null,
  lid: null,
  profile_name: null,
  profile_picture_url: null,
  platform: null,
  attention: null,
} satisfies InstanceColumnChange;

const now = sql<Date>`now()`;

function describeChange(event: ConnectionEvent, image: string): Omit<InstanceStatusChange, "status"> {
  switch (event.type) {
    case "qr":
      return describeQr(event, image);
    case "pairing_code":
      return { reason: null, set: describePairingCode(event) };
    case "passkey_required":
      return describePasskey(event.passkey);
    case "qr_expired":
      return { reason: "qr_expired", pairing_error: event.error };
    case "pairing_failed":
      return describeFailure(event.error);
    case "connected":
      return { reason: null, set: describeIdentity(event) };
    case "disconnected":
      return describeEnd(event);
    case "logged_out":
      return { reason: event.reason, set: NO_IDENTITY };
    case "failed":
      return { reason: event.reason, detail: event.detail };
    default:
      return { reason: event.reason };
  }
}

function describeQr(
  { qr, attempt, max_attempts, expires_at, reason }: Extract<ConnectionEvent, { type: "qr" }>,
  image: string,
): Omit<InstanceStatusChange, "status"> {
  const hint = QR_ADVICE[reason];
  const data = { qr: image, qr_code: qr, expires_at, attempt, max_attempts, reason, hint };
  return {
    reason: null,
    set: {
      qr,
      qr_attempt: attempt,
      qr_max_attempts: max_attempts,
      qr_expires_at: expires_at,
      qr_reason: reason,
      pairing_error: null,
      last_qr_at: now,
    },
    events: [{ event: "instance.qr", data }],
  };
}

function describeEnd({
  reason,
  detail,
  will_retry,
  error,
}: Extract<ConnectionEvent, { type: "disconnected" }>): Omit<InstanceStatusChange, "status"> {
  const reconnect_attempts = sql<number>`reconnect_attempts + 1`;
  return {
    reason,
    detail,
    will_retry,
    pairing_error: error,
    ...(will_retry && { set: { reconnect_attempts } }),
  };
}

/** Leaves the displayed code unchanged. */
function describeFailure(error: PairingError): Omit<InstanceStatusChange, "status"> {
  return {
    reason: null,
    pairing_error: error,
    events: [{ event: "instance.pairing_failed", data: { ...error } }],
  };
}

/** A pairing code replaces the QR. */
function describePairingCode({ code, expires_at }: Extract<ConnectionEvent, { type: "pairing_code" }>) {
  return {
    pairing_code: code,
    qr_expires_at: expires_at,
    pairing_error: null,
    qr: null,
    qr_reason: null,
    qr_attempt: null,
    qr_max_attempts: null,
  } satisfies InstanceColumnChange;
}

/** Data for two people: the owner of the passkey signs, and the owner of the phone compares the code. */
function describePasskey(state: PasskeyState): Omit<InstanceStatusChange, "status"> {
  const { stage, options, code, expires_at } = cleanJson(state);
  const passkey = JSON.stringify({
    stage,
    options,
    code,
    expires_at: expires_at.toISOString(),
  } satisfies PasskeyRow);
  const statusEvents = {
    required: [{ event: "instance.passkey_required" as const, data: { challenge: options, expires_at } }],
    confirmation_required: [{ event: "instance.passkey_confirmation" as const, data: { code, expires_at } }],
    awaiting_phone: [],
    finishing: [],
  }[stage];
  return { reason: "passkey_required", set: { passkey }, statusEvents };
}

function describeIdentity({ me, platform }: Extract<ConnectionEvent, { type: "connected" }>) {
  return {
    phone: me.phone,
    jid: me.jid,
    lid: me.lid,
    profile_name: me.push_name ?? nameReportedBefore(me),
    platform,
    pairing_error: null,
    reconnect_attempts: 0,
    connected_at: now,
    disconnected_at: null,
    last_seen_at: now,
  } satisfies InstanceColumnChange;
}

/** The phone may report its name before the first connection, which does not know it, is recorded. */
function nameReportedBefore({ jid }: Identity) {
  return sql<string | null>`case when jid is null or jid = ${jid} then profile_name end`;
}
