import type { Engine } from "../../../engine/engine.ts";
import { abortAfter } from "../../../platform/abort-after.ts";
import { type Db, isLockTimeout, type Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { Semaphore } from "../../../platform/limits/semaphore.ts";
import type { InstanceStatus } from "../../../tables.ts";
import { type AuditActor, recordAudit } from "../../audit/audit.ts";
import { type FindCountry, readPhone } from "../../contacts/contacts.ts";
import {
  addControlJob,
  changeStatus,
  getInstance,
  hasControlJob,
  type InstanceRow,
  instanceAuditEntry,
  LIVE_STATUSES,
  lockInstance,
  waitForInstance,
} from "../../instances/instances.ts";
import { hasPairing, type PairingErrorView, toPairingErrorView } from "./to-connection-view.ts";

export interface InstanceControlDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "publish" | "subscribe" | "hasLiveNode">;
  findCountry: FindCountry;
}

export interface WaitInput {
  wait_seconds: number;
  signal: AbortSignal;
}

const LOGOUT_WAIT_MS = 20_000;
/** A request waits so long for the others that change the same instance. */
const TURN_MS = 20_000;

/** Starts the connection and waits for a QR, a pairing code, or the connection itself. */
export async function connectInstance(
  deps: InstanceControlDeps,
  id: number,
  { phone: text, wait_seconds, signal }: WaitInput & { phone?: string },
): Promise<InstanceRow> {
  const country = await deps.findCountry({ instance_id: id }, [text]);
  const phone = text === undefined ? undefined : readPhone("phone", text, country);
  await control(deps, id, signal, (trx) => requestConnect(trx, id, phone));
  const row = await wait(deps, id, wait_seconds * 1000, signal, (now) =>
    now.status === "qr_pending"
      ? isPairable(now, phone)
      : now.status !== "connecting" && now.status !== "reconnecting",
  );
  if (row.status === "error" || row.status === "disconnected") throw connectFailed(row);
  return row;
}

/** Closes the connection and opens it again with the same pairing. */
export async function reconnectInstance(
  deps: InstanceControlDeps,
  id: number,
  { wait_seconds, signal }: WaitInput,
): Promise<InstanceRow> {
  await control(deps, id, signal, (trx) => requestReconnect(trx, id));
  return wait(deps, id, wait_seconds * 1000, signal, ({ status }) => status !== "reconnecting");
}

/** Unlinks the phone, and returns once the pairing is deleted. */
export async function logoutInstance(
  deps: InstanceControlDeps,
  id: number,
  by: AuditActor,
  signal: AbortSignal,
): Promise<InstanceRow> {
  await control(deps, id, signal, (trx) => requestLogout(trx, id, by));
  const isDone = async ({ lane }: InstanceRow) => !(await hasControlJob(deps.db, lane, "logout"));
  const row = await wait(deps, id, LOGOUT_WAIT_MS, signal, isDone);
  // The job and the row change in one commit, which can lie between reading the row and looking for the job.
  if (await isDone(row)) return getInstance(deps.db, id);
  throw new GatewayError(
    "UNAVAILABLE",
    "The logout was accepted and has not finished yet. Read the status of the instance in a few seconds.",
    {
      retryAfterSeconds: 5,
    },
  );
}

interface ControlRequest {
  row: InstanceRow;
  /** The lanes to wake after the commit. */
  lanes: number[];
}

/** Changes the row and queues a job for the session's owner, in one transaction. */
async function control(
  deps: InstanceControlDeps,
  id: number,
  signal: AbortSignal,
  request: (trx: Trx) => Promise<ControlRequest>,
): Promise<void> {
  const { row, lanes } = await inTurn(deps.db, id, signal, request);
  deps.engine.wake([row.lane, ...lanes]);
  deps.engine.publish("instance", String(row.id));
}

/** One request for each instance holds a connection while it waits for the row; the others wait in memory. */
const turns = new Semaphore({ limitPerKey: 1 });

/** Many may connect one instance at once: the others get no error because the first ones take long. */
async function inTurn<Result>(
  db: Db,
  id: number,
  left: AbortSignal,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result> {
  const until = performance.now() + TURN_MS;
  const signal = abortAfter(TURN_MS, left);
  const turn = await turns.acquire({ key: id, signal }).catch((cause: unknown) => {
    throw new GatewayError(
      "UNAVAILABLE",
      "Too many requests change this instance at once. Try again in a moment.",
      { cause, retryAfterSeconds: 1 },
    );
  });
  try {
    for (;;) {
      try {
        return await db.transaction().execute(work);
      } catch (error) {
        if (!isLockTimeout(error) || left.aborted || performance.now() > until) throw error;
      }
    }
  } finally {
    turn.release();
  }
}

async function requestConnect(trx: Trx, id: number, phone: string | undefined): Promise<ControlRequest> {
  const row = await lockInstance(trx, id);
  await refuseDuringLogout(trx, row);
  if (row.status === "connected" || isPairable(row, phone)) return { row, lanes: [] };
  const afresh = !LIVE_STATUSES.includes(row.status) || row.status === "passkey_required";
  // Without a phone number in the request, the current pairing code stays valid.
  const pairing_phone = phone ?? (afresh ? null : row.pairing_phone);
  await addControlJob(trx, row.lane, { do: "connect", phone: pairing_phone ?? undefined, afresh });
  const status: InstanceStatus = row.status === "reconnecting" ? "reconnecting" : "connecting";
  const set = { wanted: "connected" as const, pairing_phone, pairing_error: null, reconnect_attempts: 0 };
  return { row, lanes: await changeStatus(trx, row, { status, reason: null, set }) };
}

async function requestReconnect(trx: Trx, id: number): Promise<ControlRequest> {
  const row = await lockInstance(trx, id);
  await refuseDuringLogout(trx, row);
  if (row.jid === null) throw notConnected(row, "The instance is not paired: connect it first.");
  await addControlJob(trx, row.lane, { do: "reconnect" });
  const change = {
    status: "reconnecting",
    reason: "reconnect",
    will_retry: true,
    set: { wanted: "connected", reconnect_attempts: 0 },
  } as const;
  return { row, lanes: await changeStatus(trx, row, change) };
}

async function requestLogout(trx: Trx, id: number, by: AuditActor): Promise<ControlRequest> {
  const row = await lockInstance(trx, id);
  if (row.status === "created") throw notConnected(row, "The instance was never connected.");
  const isOut = row.status === "disconnected" && row.jid === null && row.wanted === "stopped";
  if (isOut || (await hasControlJob(trx, row.lane, "logout"))) return { row, lanes: [] };
  await trx.updateTable("instance").set({ wanted: "stopped" }).where("id", "=", id).execute();
  await addControlJob(trx, row.lane, { do: "logout" });
  await recordAudit(trx, instanceAuditEntry(by, "instance.logout", row));
  return { row, lanes: [] };
}

async function refuseDuringLogout(trx: Trx, { lane }: InstanceRow): Promise<void> {
  if (!(await hasControlJob(trx, lane, "logout"))) return;
  throw new GatewayError("CONFLICT", "The instance is being logged out. Try again in a moment.", {
    retryAfterSeconds: 1,
  });
}

/** Whether the instance shows a QR, or a code for the given phone. */
function isPairable(row: InstanceRow, phone: string | undefined): boolean {
  if (!hasPairing(row)) return false;
  return phone === undefined || (row.pairing_code !== null && row.pairing_phone === phone);
}

/** Returns the instance as soon as `isEnough` returns true, or after the timeout. */
async function wait(
  { db, engine }: InstanceControlDeps,
  id: number,
  ms: number,
  signal: AbortSignal,
  isEnough: (row: InstanceRow) => boolean | Promise<boolean>,
): Promise<InstanceRow> {
  let row: InstanceRow | undefined;
  await waitForInstance({ engine, ms, signal }, id, async () => {
    row = await getInstance(db, id);
    return isEnough(row);
  });
  return row ?? getInstance(db, id);
}

function notConnected({ status }: InstanceRow, message: string): GatewayError {
  return new GatewayError("INSTANCE_NOT_CONNECTED", message, { details: { status } });
}

function connectFailed(row: InstanceRow): GatewayError {
  const { status, last_disconnect_reason: reason } = row;
  const pairing_error = toPairingErrorView(row);
  if (pairing_error) return pairingFailed(pairing_error, { status, reason, pairing_error });
  return new GatewayError(
    "CONNECT_FAILED",
    "The instance could not be connected. details.reason says why; connect it again.",
    {
      details: { status, reason },
    },
  );
}

function pairingFailed(
  { code, message, action, retry_at }: PairingErrorView,
  details: Record<string, unknown>,
): GatewayError {
  const text = `${message} ${action}`;
  if (code === "rate_limited") {
    const ms = Date.parse(retry_at ?? "") - Date.now();
    const retryAfterSeconds = Math.max(1, Math.ceil(ms / 1000) || 1);
    return new GatewayError("RATE_LIMITED", text, { details, retryAfterSeconds });
  }
  if (code === "number_refused") {
    const fields = [{ field: "phone", code: "refused_by_other", params: {}, issue: message } as const];
    return new GatewayError("VALIDATION_ERROR", text, { details: { ...details, fields } });
  }
  return new GatewayError("CONNECT_FAILED", text, { details });
}
