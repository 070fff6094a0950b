import { setTimeout as pause } from "node:timers/promises";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { InstanceRow } from "../instances/instances.ts";
import { getSandboxInstance, type SandboxAccess } from "./paired-phone.ts";

export interface ScanDeps extends SandboxAccess {
  /** Requests the connection, like the connect route. */
  connectInstance(id: number): Promise<void>;
  /** How long a scan waits for a QR, and then for the connection. Default 10 s. */
  waitMs?: number;
}

const WAIT_MS = 10_000;
const POLL_MS = 40;

/** Waits for a QR or code, scans it, and waits for the connection. */
export async function scanPendingPairing(deps: ScanDeps, id: number, phone: string | undefined) {
  await getUnpaired(deps, id);
  let scanned = await scanShown(deps, id, phone);
  if (scanned === undefined) {
    await deps.connectInstance(id);
    scanned = await until(deps, () => scanShown(deps, id, phone));
  }
  if (scanned === undefined)
    throw new GatewayError("CONNECT_FAILED", "The instance shows no QR code. Connect it first.");
  const number = scanned;
  await until(deps, async () => isConnectedWith(number, await getSandboxInstance(deps, id)) || undefined);
  const { jid, lid, status } = await getSandboxInstance(deps, id);
  return { phone: number, jid, lid, status };
}

/** The number of the phone that scanned; undefined while there is nothing to scan. */
async function scanShown(deps: ScanDeps, id: number, phone: string | undefined): Promise<string | undefined> {
  const { account_id, qr, pairing_code } = await getUnpaired(deps, id);
  const shown = pairing_code ?? qr;
  if (shown === null) return undefined;
  const scan = await deps.controlOf(account_id).scan(shown, phone);
  if (scan.outcome === "refused") throw invalidField("phone", scan.reason);
  return scan.outcome === "scanned" ? scan.phone : undefined;
}

async function getUnpaired(deps: ScanDeps, id: number): Promise<InstanceRow> {
  const instance = await getSandboxInstance(deps, id);
  if (instance.status !== "connected") return instance;
  const { phone, status } = instance;
  throw new GatewayError("CONFLICT", "The instance is already paired. Log it out first.", {
    details: { status, phone },
  });
}

function isConnectedWith(phone: string, instance: InstanceRow): boolean {
  return instance.status === "connected" && instance.phone === phone;
}

async function until<T>(
  { waitMs = WAIT_MS }: ScanDeps,
  poll: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await poll();
    if (found !== undefined || performance.now() > deadline) return found;
    await pause(POLL_MS);
  }
}
