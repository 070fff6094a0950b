import { sql, type UpdateObject } from "kysely";
import type { PairingError } from "../../network/driver.ts";
import type { Trx } from "../../platform/db/database.ts";
import type { InstanceStatus, Tables } from "../../tables.ts";
import type { EventName } from "../events/contract.ts";
import { type EventDraft, recordEvents } from "../events/events.ts";
import type { InstanceRow } from "./instance-row.ts";
import { LIVE_STATUSES } from "./live-statuses.ts";

export type InstanceColumnChange = UpdateObject<Tables, "instance">;

export interface InstanceStatusChange {
  status: InstanceStatus;
  reason: string | null;
  /** Text for users, in addition to the reason. */
  detail?: string;
  will_retry?: boolean;
  /** Error of a failed pairing; if not given, the stored error stays. */
  pairing_error?: PairingError;
  /** Further columns. */
  set?: InstanceColumnChange;
  /** Events in addition to those of the status itself. */
  events?: Pick<EventDraft, "event" | "data">[];
  /** Events that report the status, with more data. */
  statusEvents?: { event: EventName; data: Record<string, unknown> }[];
}

const now = sql<Date>`now()`;

/**
 * The only code that writes an instance's status, with its log, held messages and events. `before` is locked.
 * Must be the last of the transaction; returns the lanes to wake after the commit.
 */
export async function changeStatus(
  trx: Trx,
  before: InstanceRow,
  change: InstanceStatusChange,
): Promise<number[]> {
  const { status } = change;
  const after = await trx
    .updateTable("instance")
    .set({
      ...(status !== "qr_pending" && NO_CODE),
      ...(status !== "qr_pending" && status !== "connecting" && { pairing_phone: null }),
      ...(status !== "passkey_required" && { passkey: null }),
      ...(before.status === "connected" && { disconnected_at: now, last_seen_at: now }),
      ...(change.pairing_error && { pairing_error: JSON.stringify(change.pairing_error) }),
      ...change.set,
      status,
      last_disconnect_reason: change.detail ? `${change.reason}: ${change.detail}` : change.reason,
      updated_at: now,
    })
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (before.status === "connected") await moveDeadlines(trx, before);
  if (before.status !== status) await logConnection(trx, after);
  return recordEvents(trx, draftEvents(before, after, change));
}

/** Neither QR nor pairing code. */
const NO_CODE = {
  qr: null,
  qr_attempt: null,
  qr_max_attempts: null,
  qr_expires_at: null,
  qr_reason: null,
  pairing_code: null,
} satisfies InstanceColumnChange;

/** The hold time of async messages does not run while the instance is connected. */
async function moveDeadlines(trx: Trx, { id, connected_at }: InstanceRow): Promise<void> {
  // Locked in the order of all writers of messages, to prevent deadlocks.
  await sql`
    with locked as (
      select id from message
      where instance_id = ${id} and status = 'pending' and mode = 'async' and submitted_at is null
      order by id for update
    )
    update message m set deadline = m.deadline + (now() - greatest(${connected_at}::timestamptz, m.created_at, m.send_at))
    from locked where m.id = locked.id`.execute(trx);
}

async function logConnection(trx: Trx, row: InstanceRow): Promise<void> {
  const { id: instance_id, account_id, status, last_disconnect_reason: reason } = row;
  await trx.insertInto("connection_log").values({ instance_id, account_id, status, reason }).execute();
}

/** Receivers that know only the documented names get instance.disconnected for every disconnection. */
const EVENTS_OF: Record<InstanceStatus, readonly EventName[]> = {
  created: [],
  connecting: [],
  qr_pending: [],
  qr_expired: ["instance.qr_expired"],
  // Sent with the challenge, and again with each new one.
  passkey_required: [],
  connected: ["instance.connected"],
  reconnecting: ["instance.disconnected", "instance.reconnecting"],
  disconnected: ["instance.disconnected"],
  logged_out: ["instance.disconnected", "instance.logged_out"],
  banned: ["instance.disconnected"],
  error: ["instance.disconnected"],
};

/** A disconnected instance cannot disconnect again, not even after a failed attempt to reconnect. */
function isReported(name: EventName, before: InstanceRow, after: InstanceRow): boolean {
  if (name !== "instance.disconnected") return true;
  return after.status === "reconnecting"
    ? before.status === "connected"
    : LIVE_STATUSES.includes(before.status);
}

function draftEvents(before: InstanceRow, after: InstanceRow, change: InstanceStatusChange): EventDraft[] {
  const data = {
    status: after.status,
    phone: after.phone ?? before.phone,
    jid: after.jid ?? before.jid,
    reason: change.reason,
    will_retry: change.will_retry ?? false,
    ...(change.pairing_error && { pairing_error: change.pairing_error }),
  };
  const names =
    before.status === after.status
      ? []
      : EVENTS_OF[after.status].filter((name) => isReported(name, before, after));
  const more = (change.statusEvents ?? []).map((one) => ({ ...one, data: { ...data, ...one.data } }));
  const drafts = [...names.map((event) => ({ event, data })), ...more, ...(change.events ?? [])];
  return drafts.map((draft) => ({ ...draft, instance_id: after.id, chat: "instance" }));
}
