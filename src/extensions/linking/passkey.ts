import { getInstance, type InstanceRow, waitForInstance } from "../../core/instances/instances.ts";
import {
  sessionUnreachable,
  unwrapOperationResult,
} from "../../core/session-operations/session-operations.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ReachableSession } from "../../network/driver.ts";
import type { OperationResult, PasskeyOperations, PasskeyState } from "../../network/session-operations.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { InputOf, OutputOf } from "../../platform/http/route.ts";
import { withTimeout } from "../../platform/limits/with-timeout.ts";
import type { linkingContract } from "./contract.ts";

export interface PasskeyDeps {
  db: Db;
  engine: Pick<Engine, "subscribe">;
  /** The session of an instance that is being paired, on any node. */
  findPairingSession(instanceId: number): Promise<ReachableSession | undefined>;
  timeoutMs: number;
}

export type PasskeyView = OutputOf<typeof linkingContract.getPasskey>;
export type PasskeyAssertionInput = Omit<InputOf<typeof linkingContract.submitPasskeyAssertion>, "id">;

const STATE_WAIT_MS = 5_000;

export const NO_PASSKEY: PasskeyView = { state: "none", challenge: null, code: null, expires_at: null };

/** The passkey state of an instance, which any node can read. */
export function toPasskey({ status, passkey }: InstanceRow): PasskeyView {
  if (status !== "passkey_required" || !passkey) return NO_PASSKEY;
  const { stage, options, code, expires_at } = passkey;
  return { state: stage, challenge: options, code, expires_at: new Date(expires_at) };
}

export async function submitAssertion(
  deps: PasskeyDeps,
  id: number,
  { rawId, type, response }: PasskeyAssertionInput,
  signal: AbortSignal,
): Promise<PasskeyView> {
  const assertion = { id: rawId, rawId, type, response };
  await runStep(deps, id, "required", (passkey) => passkey.submitAssertion(assertion));
  return changed(deps, id, signal, ({ state }) => state !== "required");
}

export async function confirmPasskey(
  deps: PasskeyDeps,
  id: number,
  signal: AbortSignal,
): Promise<PasskeyView> {
  await runStep(deps, id, "confirmation_required", (passkey) => passkey.confirm());
  return changed(deps, id, signal, ({ state }) => state !== "confirmation_required");
}

/** Ends the pairing; the instance can be connected again at once. */
export async function cancelPasskey(
  deps: PasskeyDeps,
  id: number,
  signal: AbortSignal,
): Promise<PasskeyView> {
  await runStep(deps, id, undefined, (passkey) => passkey.cancel());
  return changed(deps, id, signal, ({ state }) => state === "none");
}

/** Throws at once if no passkey step is pending; otherwise the session decides, on any node. */
async function runStep<Value>(
  { db, findPairingSession, timeoutMs }: PasskeyDeps,
  id: number,
  expected: PasskeyState["stage"] | undefined,
  operation: (passkey: PasskeyOperations) => Promise<OperationResult<Value>>,
): Promise<void> {
  const row = await getInstance(db, id);
  const { state } = toPasskey(row);
  if (state === "none" || (expected !== undefined && state !== expected)) throw notWaiting(row, state);
  const session = await findPairingSession(id);
  if (!session) throw sessionUnreachable();
  unwrapOperationResult(await withTimeout(operation(session.passkey), timeoutMs));
}

/** Waits, because the session stores its decision shortly afterwards. */
async function changed(
  { db, engine }: PasskeyDeps,
  id: number,
  signal: AbortSignal,
  isDone: (view: PasskeyView) => boolean,
): Promise<PasskeyView> {
  let view: PasskeyView | undefined;
  await waitForInstance({ engine, ms: STATE_WAIT_MS, signal }, id, async () => {
    view = toPasskey(await getInstance(db, id));
    return isDone(view);
  });
  return view ?? toPasskey(await getInstance(db, id));
}

const NOT_WAITING: Record<PasskeyView["state"], string> = {
  none: "WhatsApp requests no passkey now. Connect the instance and scan its QR code; the event instance.passkey_required reports a request.",
  required: "The challenge is not signed yet. Send the assertion first.",
  awaiting_phone: "The challenge is already signed. Wait for the phone.",
  confirmation_required: "The challenge is signed already. Compare the code and confirm it.",
  finishing: "The code is confirmed already. The phone is linking.",
};

export function notWaiting({ status }: Pick<InstanceRow, "status">, state: PasskeyView["state"]) {
  return new GatewayError("CONFLICT", NOT_WAITING[state], { details: { status, state } });
}
