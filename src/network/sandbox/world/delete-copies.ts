import { phoneJid } from "../../jid.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";
import { lidOf, phoneOf } from "../sandbox-numbers.ts";

/** Deletes copies of messages with their files, and the logged content and contact names of these phones. */
export async function deleteCopies(
  { client, account_id }: SandboxNetwork,
  phones: readonly string[],
  messages: readonly { writer: string | null; id: string }[],
): Promise<string[]> {
  const found = await findWriters({ client, account_id }, messages);
  const written = messages.flatMap(({ writer, id }) => {
    const phone = writer === null ? null : phoneOf(writer);
    return phone === null ? [] : [{ phone, id }];
  });
  const known = [...written, ...found];
  const [writers, ids] = [known.map(({ phone }) => phone), known.map(({ id }) => id)];
  await client.query(
    `delete from sandbox.message m using unnest($1::text[], $2::text[]) as x (phone, id)
     where m.phone = x.phone and m.id = x.id and m.account_id = $3`,
    [writers, ids, account_id],
  );
  await client.query("delete from sandbox.media where id = any ($1) and account_id = $2", [
    known.map(({ phone, id }) => `${phone}/${id}`),
    account_id,
  ]);
  const writersFound = [...new Set(found.map(({ phone }) => phone))];
  if (phones.length === 0) return writersFound;
  await client.query(
    `update sandbox.ledger set content = null, chat = null
     where device in (select id from sandbox.device where phone = any ($1) and account_id = $2)`,
    [phones, account_id],
  );
  await client.query("delete from sandbox.message where phone = any ($1) and account_id = $2", [
    phones,
    account_id,
  ]);
  await client.query(
    "update sandbox.address_book set name = null where account_id = $2 and owner = any ($1)",
    [phones, account_id],
  );
  return writersFound;
}

/** Finds the account's writers of messages whose `writer` is null. */
async function findWriters(
  { client, account_id }: SandboxNetwork,
  messages: readonly { writer: string | null; id: string }[],
): Promise<{ phone: string; id: string }[]> {
  const ids = messages.flatMap(({ writer, id }) => (writer === null ? [id] : []));
  if (ids.length === 0) return [];
  const { rows } = await client.query<{ phone: string; id: string }>(
    "select phone, id from sandbox.message where id = any ($1) and account_id = $2",
    [ids, account_id],
  );
  return rows;
}

/** Deletes all network data of an account; every statement can safely run again. */
export async function deleteAccountData(network: SandboxNetwork): Promise<void> {
  await deletePeople(network);
  const devices = "(select id from sandbox.device where account_id = $1)";
  for (const rows of [
    `sandbox.inbox where device in ${devices}`,
    `sandbox.ledger where device in ${devices}`,
    ...["message", "media", "pairing", "device"].map((table) => `sandbox.${table} where account_id = $1`),
  ])
    await network.client.query(`delete from ${rows}`, [network.account_id]);
}

/** Deletes the people of an account with their groups and pictures. Its phones stay linked, without a name. */
export async function deletePeople({ client, account_id }: SandboxNetwork): Promise<void> {
  await client.query(
    `delete from sandbox.picture where id in (
       select picture from sandbox.person where account_id = $1
       union all select picture from sandbox.group_chat where account_id = $1)`,
    [account_id],
  );
  for (const table of [
    "group_request",
    "group_member",
    "group_chat",
    "chat_state",
    "label",
    "address_book",
    "person",
  ])
    await client.query(`delete from sandbox.${table} where account_id = $1`, [account_id]);
  await client.query("update sandbox.device set push_name = null where account_id = $1", [account_id]);
}

/** Deletes one person, who may be in the network under several numbers; every statement can safely run again. */
export async function deletePerson(
  { client, account_id }: SandboxNetwork,
  addresses: readonly string[],
): Promise<void> {
  const phones = [...new Set(addresses.flatMap((address) => phoneOf(address) ?? []))];
  const chats = phones.flatMap((phone) => [phoneJid(phone), lidOf(phone)]);
  await client.query(
    `delete from sandbox.picture where id in (
       select picture from sandbox.person where account_id = $1 and phone = any ($2))`,
    [account_id, phones],
  );
  for (const table of ["group_request", "group_member", "address_book", "person", "message"])
    await client.query(`delete from sandbox.${table} where account_id = $1 and phone = any ($2)`, [
      account_id,
      phones,
    ]);
  for (const table of ["chat_state", "label", "message"])
    await client.query(`delete from sandbox.${table} where account_id = $1 and chat = any ($2)`, [
      account_id,
      chats,
    ]);
  await client.query(
    "delete from sandbox.media where account_id = $1 and split_part(id, '/', 1) = any ($2)",
    [account_id, phones],
  );
  await client.query(
    "update sandbox.group_chat set owner = null where account_id = $1 and owner = any ($2)",
    [account_id, [...phones, ...chats]],
  );
  await client.query(
    `update sandbox.ledger set content = null, chat = null
     where chat = any ($2) and device in (select id from sandbox.device where account_id = $1)`,
    [account_id, chats],
  );
}

/** Unlinks a phone that no instance uses any longer, and deletes its inbox entries and its ledger. */
export async function deletePhoneData(network: SandboxNetwork, phone: string): Promise<void> {
  const { client, account_id } = network;
  const { rows } = await client.query<{ id: number }>(
    `update sandbox.device
     set unlinked_at = coalesce(unlinked_at, now()), session = null, push_name = null
     where phone = $1 and account_id = $2 returning id::float8 as id`,
    [phone, account_id],
  );
  const devices = rows.map(({ id }) => id);
  await client.query("delete from sandbox.inbox where device = any ($1::bigint[])", [devices]);
  await deleteCopies(network, [phone], []);
  await client.query("delete from sandbox.ledger where device = any ($1::bigint[])", [devices]);
}
