import { setTimeout as pause } from "node:timers/promises";
import { type Client, WaygateError } from "../../client/client.ts";
import { CommandError } from "../command-error.ts";

const WITHIN_MS = 90_000;
const POLL_MS = 250;
const QR_WITHIN_SECONDS = 30;

/** Lets a phone of the sandbox network scan the instance's QR; returns its number once it is connected. */
export async function pairSandboxInstance(client: Client, id: number, signal: AbortSignal): Promise<string> {
  const deadline = performance.now() + WITHIN_MS;
  await client.connectInstance({ id, wait_seconds: QR_WITHIN_SECONDS });
  while (!signal.aborted && performance.now() < deadline) {
    const { connected, phone, status } = (await client.getInstanceStatus({ id })).data;
    if (connected && phone !== null) return phone;
    if (status === "qr_pending") await scan(client, id);
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
  }
  signal.throwIfAborted();
  throw new CommandError(
    `The instance was not connected within ${WITHIN_MS / 1000} s. The log of the gateway says why.`,
  );
}

/** A busy machine may replace the QR during the scan; the next status shows what became of it. */
async function scan(client: Client, id: number): Promise<void> {
  await client.sandboxScan({ id }).catch((error: unknown) => {
    const isPassing = error instanceof WaygateError && /^(CONNECT_FAILED|CONFLICT)$/.test(error.code);
    if (!isPassing) throw error;
  });
}
