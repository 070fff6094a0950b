import { sql } from "kysely";
import type { SandboxControl } from "../../network/sandbox-control.ts";
import type { Db } from "../../platform/db/database.ts";

/**
 * The data of an account in the sandbox network, which stores copies of all messages that pass through it. Unset: the
 * gateway has no such network.
 */
export type FindNetworkData = (
  account_id: number,
) => Pick<SandboxControl, "deleteCopies" | "deletePhone" | "deletePeople" | "deletePerson" | "deleteAccount">;

export interface DeleteNetworkCopiesDeps {
  db: Db;
  networkData: FindNetworkData | undefined;
}

const ROWS_AT_ONCE = 1_000;

/**
 * Deletes the sandbox's copies of an instance's messages, then the messages, in batches that can be repeated.
 * Does nothing on the real network.
 */
export async function deleteNetworkCopies(
  { db, networkData }: DeleteNetworkCopiesDeps,
  id: number,
): Promise<void> {
  const instance = await db
    .selectFrom("instance")
    .select(["account_id", "network", "phone"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (instance?.network !== "sandbox" || !networkData) return;
  const { account_id } = instance;
  const sandbox = networkData(account_id);
  const deletePhoneData = async (phone: string) => {
    if (!(await isSharedPhone(db, { id, account_id, phone }))) await sandbox.deletePhone(phone);
  };
  let found: Copy[];
  do {
    found = await findCopies(db, id);
    const written = found.map(({ writer, message_id }) => ({ writer, id: message_id }));
    // A logout has removed the number from the row, but the network knows the senders of its messages.
    for (const phone of await sandbox.deleteCopies([], written)) await deletePhoneData(phone);
    const ids = found.map((copy) => copy.id);
    await sql`delete from media where message = any(${ids}::bigint[])`.execute(db);
    await sql`delete from message where id = any(${ids}::bigint[])`.execute(db);
  } while (found.length === ROWS_AT_ONCE);
  if (instance.phone !== null) await deletePhoneData(instance.phone);
}

interface Copy {
  id: number;
  message_id: string;
  writer: string | null;
}

async function findCopies(db: Db, id: number): Promise<Copy[]> {
  const { rows } = await sql<Copy>`
    select m.id, m.message_id,
      case when m.from_me then i.jid else coalesce(m.sender ->> 'jid', m.jid) end as writer
    from message m join instance i on i.id = m.instance_id
    where m.instance_id = ${id} limit ${ROWS_AT_ONCE}`.execute(db);
  return rows;
}

/** Whether another instance of the account uses the phone. */
async function isSharedPhone(
  db: Db,
  { id, account_id, phone }: { id: number; account_id: number; phone: string },
): Promise<boolean> {
  const others = await db
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", account_id)
    .where("network", "=", "sandbox")
    .where("phone", "=", phone)
    .where("id", "!=", id)
    .where("removed_at", "is", null)
    .limit(1)
    .execute();
  return others.length > 0;
}
