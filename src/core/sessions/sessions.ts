import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse, RawResponse } from "../../platform/http/handler.ts";
import type { SendError } from "../../platform/send-reasons.ts";
import { asReached, getInstance } from "../instances/instances.ts";
import {
  connectInstance,
  type InstanceControlDeps,
  logoutInstance,
  reconnectInstance,
} from "./connection/connect-instance.ts";
import { toQrPng } from "./connection/qr-code-image.ts";
import { streamInstanceStatesHandler } from "./connection/stream-instance-states.ts";
import { hasPairing, toConnectionView, toPairingView } from "./connection/to-connection-view.ts";
import type { sessionsContract } from "./contract.ts";

/** The activity of an instance in the last 24 hours. */
interface InstanceActivity {
  /** Null: the instance has received no message yet. */
  seconds_since_last_inbound: number | null;
  messages_24h: number;
  failures_24h: number;
  /** Newest first. */
  last_errors: (Pick<SendError, "code" | "reason" | "params" | "message"> & { at: string })[];
}

const MOST_COUNTED = 10_000;

const ERRORS_SHOWN = 5;

export { connectInstance, type InstanceControlDeps } from "./connection/connect-instance.ts";
export { SESSION_START_FAILURES } from "./connection/find-status-transition.ts";
export { toPairingView } from "./connection/to-connection-view.ts";
export type { FollowedEvent } from "./session-event-recorder.ts";

/** Handlers for an instance's session: its state, its pairing and its connection. */
export function sessionHandlers(deps: InstanceControlDeps): Handlers<typeof sessionsContract> {
  const { db, engine } = deps;
  return {
    streamInstanceStates: streamInstanceStatesHandler(db),

    getInstanceStatus: async ({ input: { id } }) => ({
      ...toConnectionView(asReached(await getInstance(db, id), await engine.hasLiveNode("sessions"))),
      ...(await readInstanceActivity(db, id)),
    }),

    async getInstanceQr({ input: { id, format } }) {
      const row = await getInstance(db, id);
      if (format === "json") return { id, status: row.status, ...(await toPairingView(row)) };
      if (row.qr !== null && hasPairing(row))
        return new RawResponse("image/png", await toQrPng(row.qr), 200, NO_STORE);
      throw new GatewayError("NOT_FOUND", "The instance has no QR code now. Connect it to get one.", {
        details: { status: row.status },
      });
    },

    async connectInstance({ input: { id, ...how }, signal }) {
      const row = await connectInstance(deps, id, { ...how, signal });
      const connection = { ...toConnectionView(row), ...(await toPairingView(row)) };
      return connection.connected ? new OkResponse(connection, { message: "Connected" }) : connection;
    },

    async reconnectInstance({ input: { id, wait_seconds }, signal }) {
      return toConnectionView(await reconnectInstance(deps, id, { wait_seconds, signal }));
    },

    async logoutInstance({ input, signal, ...by }) {
      return toConnectionView(await logoutInstance(deps, input.id, by, signal));
    },
  };
}

const NO_STORE = { "cache-control": "no-store" };

/** Counts at most the newest 10,000 messages, since larger numbers add nothing for the reader. */
async function readInstanceActivity(db: Db, instanceId: number): Promise<InstanceActivity> {
  const { rows } = await sql<InstanceActivity>`
    with day as materialized (
      select id, status, error, sent_at from message
      where instance_id = ${instanceId} and sent_at > now() - interval '24 hours'
      order by sent_at desc, id desc limit ${MOST_COUNTED}
    )
    select count(*) as messages_24h, count(*) filter (where status = 'failed') as failures_24h,
      (select floor(extract(epoch from now() - created_at))::bigint from message
        where instance_id = ${instanceId} and direction = 'inbound' order by id desc limit 1)
        as seconds_since_last_inbound,
      (select coalesce(json_agg(f), '[]') from (
        select error ->> 'code' as code, error ->> 'reason' as reason, error -> 'params' as params,
          error ->> 'message' as message,
          to_char(sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from day
        where status = 'failed' and error is not null order by sent_at desc, id desc limit ${ERRORS_SHOWN}
      ) f) as last_errors
    from day`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the aggregate returned no row");
  return row;
}
