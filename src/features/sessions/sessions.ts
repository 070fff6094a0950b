import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse, RawResponse } from "../../platform/http/handler.ts";
import { asReached, getInstance } from "../instances/instances.ts";
import {
  connectInstance,
  type InstanceControlDeps,
  logoutInstance,
  reconnectInstance,
} from "./connect-instance.ts";
import type { sessionsContract } from "./contract.ts";
import { toQrPng } from "./qr-code-image.ts";
import { readInstanceActivity } from "./read-instance-activity.ts";
import { streamInstanceStatesHandler } from "./stream-instance-states.ts";
import { hasPairing, toConnectionView, toPairingView } from "./to-connection-view.ts";

export { connectInstance, type InstanceControlDeps } from "./connect-instance.ts";
export { SESSION_START_FAILURES } from "./find-status-transition.ts";
export { toPairingView } from "./to-connection-view.ts";

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
