import { sql } from "kysely";
import type { Jid } from "../../network/driver.ts";
import { isLidJid, phoneOfJid } from "../../network/jid.ts";
import type { ContactInfo, ContactName } from "../../network/session-operations.ts";
import type { Db } from "../../platform/db/database.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import type { Conversations } from "./conversations.ts";
import type { InstanceRef } from "./number-resolver.ts";

interface InfoDeps {
  db: Db;
  conversations: Conversations;
  runOperation: RunSessionOperation;
}

/** The network's data about a person, stored with the known data. */
export async function readContactInfo(deps: InfoDeps, owner: InstanceRef, jid: Jid) {
  const received = await deps.runOperation(owner.id, (session) => session.contacts.info(jid));
  const info = cleanFromNetwork(received);
  const { push_name, verified_name, is_business, business, about, picture_url } = info;
  await saveContact(deps.conversations, owner, info);
  const stored = await saveInfo(
    deps.db,
    owner.id,
    await deps.conversations.addressOf(owner.id, info.jid),
    info,
  );
  return {
    jid: stored?.jid ?? info.jid,
    lid: stored?.lid ?? info.lid,
    phone: stored?.phone ?? info.phone,
    name: stored?.name ?? null,
    push_name: stored?.push_name ?? push_name,
    verified_name: verified_name ?? stored?.verified_name ?? null,
    is_business,
    business,
    about,
    status: about,
    picture_url,
    is_blocked: stored?.is_blocked ?? false,
  };
}

/** Stores a person known to the network as a contact. */
function saveContact(conversations: Conversations, owner: InstanceRef, who: ContactInfo): Promise<void> {
  const { jid, lid, phone, push_name, verified_name } = who;
  return conversations.updateContact(owner, { jid, lid, phone, push_name, verified_name, name: null });
}

function saveInfo(db: Db, instanceId: number, jid: Jid, info: ContactInfo) {
  const { is_business, about, picture_url } = info;
  return db
    .updateTable("contact")
    .set({ is_business, about, picture_url, updated_at: sql<Date>`now()` })
    .where("instance_id", "=", instanceId)
    .where("jid", "=", jid)
    .returning(["jid", "lid", "phone", "name", "push_name", "verified_name", "is_blocked"])
    .executeTakeFirst();
}

/** Names a person in the phone's address book, and in the contacts. */
export async function saveContactName(deps: InfoDeps, owner: InstanceRef, jid: Jid, named: ContactName) {
  const person = await deps.runOperation(owner.id, (session) => session.contacts.save(jid, named));
  const { push_name, lid, phone } = person;
  const name = [named.first_name, named.last_name].filter(Boolean).join(" ");
  await deps.conversations.updateContact(owner, {
    jid: person.jid,
    lid,
    phone,
    name,
    push_name,
    verified_name: null,
  });
  const stored = await deps.db
    .selectFrom("contact")
    .select(["jid", "lid", "phone", "name"])
    .where("instance_id", "=", owner.id)
    .where("jid", "=", await deps.conversations.addressOf(owner.id, person.jid))
    .executeTakeFirst();
  return stored ?? { jid: person.jid, lid, phone, name };
}

/** Stores the block that the network has accepted, and returns the addresses of the contact. */
export async function saveBlocked(deps: InfoDeps, owner: InstanceRef, jid: Jid, is_blocked: boolean) {
  const lid = isLidJid(jid) ? jid : null;
  const phone = phoneOfJid(jid);
  await deps.conversations.updateContact(owner, {
    jid,
    lid,
    phone,
    name: null,
    push_name: null,
    verified_name: null,
  });
  const stored = await deps.db
    .updateTable("contact")
    .set({ is_blocked, updated_at: sql<Date>`now()` })
    .where("instance_id", "=", owner.id)
    .where("jid", "=", await deps.conversations.addressOf(owner.id, jid))
    .returning(["jid", "lid", "phone", "is_blocked"])
    .executeTakeFirst();
  return stored ?? { jid, lid, phone, is_blocked };
}

/** The network's list is complete: it replaces the stored one. */
export async function saveBlocklist(db: Db, instanceId: number, blocked: Jid[]): Promise<void> {
  await sql`
    with changed as (
      select id, not is_blocked as is_blocked from contact
      where instance_id = ${instanceId} and is_blocked <> coalesce(jid = any(${blocked}) or lid = any(${blocked}), false)
      order by jid for update
    )
    update contact c set is_blocked = n.is_blocked from changed n where c.id = n.id`.execute(db);
}
