import type { Pool, PoolClient } from "pg";
import { tokenDigest } from "../pairing/pair-device.ts";
import type { SandboxPerson } from "../sandbox-numbers.ts";
import { HOST_LOCK_CLASS } from "./host-lock.ts";

/** The identity of a pairing as its session sees it. */
export interface LoggedInDevice extends SandboxPerson {
  device: number;
}

export type LoginResult = { state: "open"; me: LoggedInDevice } | { state: "unlinked" } | { state: "banned" };

interface DeviceRow {
  id: number;
  phone: string;
  push_name: string | null;
  session: string | null;
  unlinked: boolean;
  banned: boolean;
  /** Another live process, or another session of this one, still holds the socket. */
  open: boolean;
}

export interface LoginRequest {
  token: string;
  account_id: number;
  session: string;
  host: number;
}

/** Opens the socket of an identity, and replaces a session that had it open. */
export async function logIn(
  pool: Pool,
  { token, account_id, session, host }: LoginRequest,
): Promise<LoginResult> {
  return inTransaction(pool, async (client) => {
    const device = await lockDevice(client, token, account_id);
    if (!device || device.unlinked) return { state: "unlinked" };
    if (device.banned) return { state: "banned" };
    if (device.session) {
      await enter(client, device, device.session, device.open ? "replaced" : "gone", 0);
    }
    await client.query(
      `update sandbox.device
       set session = $2, host = $3, linked_at = coalesce(linked_at, now()), logged_in_at = clock_timestamp()
       where id = $1`,
      [device.id, session, host],
    );
    await enter(client, device, session, "login", device.open ? 2 : 1);
    return { state: "open", me: { device: device.id, phone: device.phone, push_name: device.push_name } };
  });
}

async function lockDevice(
  client: PoolClient,
  token: string,
  account_id: number,
): Promise<DeviceRow | undefined> {
  await client.query("select from sandbox.device where token = $1 for update", [tokenDigest(token)]);
  const { rows } = await client.query<DeviceRow>(
    `select id::float8 as id, phone, push_name, session, unlinked_at is not null as unlinked,
            banned_at is not null as banned,
            session is not null and not pg_try_advisory_xact_lock_shared($2, host) as open
     from sandbox.device where token = $1 and account_id = $3`,
    [tokenDigest(token), HOST_LOCK_CLASS, account_id],
  );
  return rows[0];
}

// `open` counts the sockets of the identity at that moment, including the one of this entry.
async function enter(
  client: PoolClient,
  device: DeviceRow,
  session: string | null,
  action: string,
  open: number,
): Promise<void> {
  await client.query(
    `insert into sandbox.ledger (at, device, phone, session, action, outcome, open)
     values (clock_timestamp(), $1, $2, $3, $4, 'accepted', $5)`,
    [device.id, device.phone, session, action, open],
  );
}

/** Closes the socket of a session if it is still the open one. */
export async function closeSocket(pool: Pool, device: number, session: string): Promise<void> {
  await pool.query(
    `with closed as (
       update sandbox.device set session = null where id = $1 and session = $2 returning id, phone
     )
     insert into sandbox.ledger (device, phone, session, action, outcome, open)
     select id, phone, $2, 'close', 'accepted', 0 from closed`,
    [device, session],
  );
}

/** The gateway ends a pairing: the network no longer accepts its identity. */
export async function unlinkDevice(pool: Pool, token: string): Promise<void> {
  await pool.query(
    `with unlinked as (
       update sandbox.device d set unlinked_at = now(), session = null
       from (select id, session from sandbox.device where token = $1) before
       where d.id = before.id and d.unlinked_at is null
       returning d.id, d.phone, before.session
     ), emptied as (
       delete from sandbox.inbox where device in (select id from unlinked)
     )
     insert into sandbox.ledger (device, phone, session, action, outcome, open)
     select id, phone, session, 'logout', 'accepted', 0 from unlinked`,
    [tokenDigest(token)],
  );
}

/** Runs statements as one transaction on a dedicated connection. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    broken = false;
    return result;
  } finally {
    // Destroys a connection in an unknown state, which also rolls back.
    client.release(broken);
  }
}
