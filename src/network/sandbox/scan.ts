import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import type { Scan } from "../sandbox-control.ts";
import { HOST_LOCK } from "./host.ts";
import { inTransaction } from "./login.ts";
import { numberGivenOut } from "./numbers.ts";
import { pairingOf } from "./pairing.ts";
import { findOwner } from "./people.ts";
import { wakesOf } from "./wakes.ts";

/** Scans a QR, or enters a pairing code, with a phone of this number; without one the network gives a unique number out. */
export async function scan(pool: Pool, qrOrCode: string, phone?: string): Promise<Scan> {
  const { id, result } = await inTransaction(pool, async (client) => {
    const pairing = await findPairing(client, qrOrCode);
    if (!pairing) return { id: "", result: { outcome: "not_found" } as const };
    return { id: pairing.id, result: await pairWith(client, pairing, phone) };
  });
  if (result.outcome === "scanned") wakesOf(pool).pairing(id);
  return result;
}

interface PairingRow {
  id: string;
  phone: string | null;
}

// A pairing whose process is gone is nobody's: the lock of a living one is not to be had.
async function findPairing(client: PoolClient, qrOrCode: string): Promise<PairingRow | undefined> {
  const { rows } = await client.query<PairingRow>(
    `select id, phone from sandbox.pairing
     where (id = $1 or code = $2) and device is null and expires_at > now()
       and not pg_try_advisory_xact_lock_shared($3, host)
     for update`,
    [pairingOf(qrOrCode), qrOrCode.replaceAll("-", "").toUpperCase(), HOST_LOCK],
  );
  return rows[0];
}

async function pairWith(client: PoolClient, pairing: PairingRow, wanted: string | undefined): Promise<Scan> {
  if (pairing.phone !== null && wanted !== undefined && wanted !== pairing.phone) {
    return { outcome: "refused", reason: "The pairing code was asked for by another number." };
  }
  const phone = wanted ?? pairing.phone ?? (await uniqueNumber(client));
  const { rows } = await client.query<{ id: number }>(
    "insert into sandbox.device (phone, token, push_name) values ($1, $2, $3) returning id::float8 as id",
    [phone, randomBytes(32).toString("base64url"), (await findOwner(client, phone)).push_name],
  );
  const device = rows[0]?.id ?? 0;
  await client.query("update sandbox.pairing set device = $2 where id = $1", [pairing.id, device]);
  return { outcome: "scanned", device, phone };
}

async function uniqueNumber(client: PoolClient): Promise<string> {
  for (;;) {
    const { rows } = await client.query<{ n: number }>("select nextval('sandbox.number')::float8 as n");
    const phone = numberGivenOut(rows[0]?.n ?? 0);
    const taken = await client.query("select from sandbox.device where phone = $1 limit 1", [phone]);
    if (taken.rowCount === 0) return phone;
  }
}
