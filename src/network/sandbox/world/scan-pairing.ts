import { randomInt } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import type { ScanResult } from "../../sandbox-control.ts";
import { wakeupBusOf } from "../connection/wakeup-bus.ts";
import { HOST_LOCK_CLASS } from "../pairing/host-lock.ts";
import { inTransaction } from "../pairing/log-in.ts";
import { pairingIdOf } from "../pairing/pair-device.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";
import { AVAILABLE_NUMBERS, nthNumber } from "../sandbox-numbers.ts";
import { findPhoneOwner } from "../world/person-store.ts";

/** Scans a QR or enters a pairing code with a phone of this number, or of a free number if none is given. */
export async function scanPairing(
  { client: pool, account_id }: SandboxNetwork<Pool>,
  qrOrCode: string,
  phone?: string,
): Promise<ScanResult> {
  const { id, result } = await inTransaction(pool, async (client) => {
    const network = { client, account_id };
    const pairing = await findPairing(network, qrOrCode);
    if (!pairing) return { id: "", result: { outcome: "not_found" } as const };
    return { id: pairing.id, result: await pairWith(network, pairing, phone) };
  });
  if (result.outcome === "scanned") wakeupBusOf(pool).pairing(id);
  return result;
}

interface PairingRow {
  id: string;
  phone: string | null;
  /** The digest of the device's token. */
  token: string;
}

// A pairing whose process has died is invalid: a live process holds the lock.
async function findPairing(
  { client, account_id }: SandboxNetwork<PoolClient>,
  qrOrCode: string,
): Promise<PairingRow | undefined> {
  const { rows } = await client.query<PairingRow>(
    `select id, phone, token from sandbox.pairing
     where (id = $1 or code = $2) and device is null and expires_at > now()
       and account_id = $4 and not pg_try_advisory_xact_lock_shared($3, host)
     for update`,
    [pairingIdOf(qrOrCode), qrOrCode.replaceAll("-", "").toUpperCase(), HOST_LOCK_CLASS, account_id],
  );
  return rows[0];
}

async function pairWith(
  network: SandboxNetwork<PoolClient>,
  pairing: PairingRow,
  requestedPhone: string | undefined,
): Promise<ScanResult> {
  if (pairing.phone !== null && requestedPhone !== undefined && requestedPhone !== pairing.phone) {
    return { outcome: "refused", reason: "The pairing code was requested for another number." };
  }
  const { client, account_id } = network;
  const phone = requestedPhone ?? pairing.phone ?? (await freeNumber(network));
  const { push_name } = await findPhoneOwner(network, phone);
  const { rows } = await client.query<{ id: number }>(
    `insert into sandbox.device (account_id, phone, token, push_name) values ($1, $2, $3, $4)
     returning id::float8 as id`,
    [account_id, phone, pairing.token, push_name],
  );
  const device = rows[0]?.id ?? 0;
  await client.query("update sandbox.pairing set device = $2 where id = $1", [pairing.id, device]);
  return { outcome: "scanned", device, phone };
}

// Random, so that it does not reveal how many other numbers exist.
async function freeNumber({ client, account_id }: SandboxNetwork): Promise<string> {
  for (;;) {
    const phone = nthNumber(randomInt(AVAILABLE_NUMBERS));
    const existing = await client.query(
      "select from sandbox.device where phone = $1 and account_id = $2 limit 1",
      [phone, account_id],
    );
    if (existing.rowCount === 0) return phone;
  }
}
