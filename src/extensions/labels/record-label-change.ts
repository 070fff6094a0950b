import { sql } from "kysely";
import type { Conversations } from "../../core/contacts/contacts.ts";
import { type EventDraft, recordEvents } from "../../core/events/events.ts";
import type { FollowedEvent } from "../../core/sessions/sessions.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Identity } from "../../network/driver.ts";
import { isGroupJid, isLidJid, phoneOfJid } from "../../network/jid.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { cleanFromNetwork, cleanText } from "../../platform/text/clean-text.ts";

export type LabelEvent = Extract<FollowedEvent, { type: "label_changed" | "label_assigned" }>;

export interface LabelChangeDeps {
  db: Db;
  engine: Pick<Engine, "wake">;
  conversations: Conversations;
}

interface LabelInstance {
  id: number;
  account_id: number;
}

/** Whose change it is: a request's, or that of the phone or another of its devices. */
type Origin = "api" | "phone";

const LONGEST_ID = 64;
const LONGEST_NAME = 200;
const HIGHEST_COLOR = 32_767;

/** Stores a change of a label, and reports it as `label.changed` unless it was known. */
export async function recordLabelChange(
  { db, engine, conversations }: LabelChangeDeps,
  instance: LabelInstance,
  event: LabelEvent,
  by: Origin,
): Promise<void> {
  const record = event.type === "label_changed" ? recordLabel : recordAssignment;
  const who = event.type === "label_assigned" ? await identify(conversations, instance, event) : undefined;
  const lanes = await db.transaction().execute(async (trx) => {
    const owner = await trx
      .selectFrom("instance")
      .select("jid")
      .where("id", "=", instance.id)
      .executeTakeFirst();
    if (!owner?.jid) return [];
    const draft = await record(trx, { ...instance, me: owner.jid }, event as never, who as Identity);
    return draft ? recordEvents(trx, [{ ...draft, data: { ...draft.data, by } }]) : [];
  });
  engine.wake(lanes);
}

type Owner = LabelInstance & { me: string };

async function recordLabel(
  trx: Trx,
  owner: Owner,
  { label: reported, is_deleted }: Extract<LabelEvent, { type: "label_changed" }>,
): Promise<EventDraft | undefined> {
  const { id: label_id, name, color } = cleanFromNetwork(reported);
  if (label_id.length > LONGEST_ID) return undefined;
  const shown = name.slice(0, LONGEST_NAME);
  const number = color >= 0 && color <= HIGHEST_COLOR ? Math.floor(color) : 0;
  const { rows } = is_deleted
    ? await sql<{ id: number; name: string | null; color: number | null }>`
        update label set is_deleted = true, updated_at = now()
        where instance_id = ${owner.id} and me = ${owner.me} and label_id = ${label_id} and not is_deleted
        returning id, name, color`.execute(trx)
    : await sql<{ id: number; name: string | null; color: number | null }>`
        insert into label as l (account_id, instance_id, me, label_id, name, color)
        values (${owner.account_id}, ${owner.id}, ${owner.me}, ${label_id}, ${shown}, ${number})
        on conflict (instance_id, me, label_id) do update
        set name = excluded.name, color = excluded.color, is_deleted = false, updated_at = now()
        where l.is_deleted or l.name is distinct from excluded.name or l.color is distinct from excluded.color
        returning id, name, color`.execute(trx);
  const [row] = rows;
  if (!row) return undefined;
  if (is_deleted) await trx.deleteFrom("labelled").where("label", "=", row.id).execute();
  const label = { id: label_id, name: row.name, color: row.color };
  return draftOf(owner, "labels", { change: is_deleted ? "deleted" : "saved", label });
}

async function recordAssignment(
  trx: Trx,
  owner: Owner,
  { label_id: reported, message_id: message, labelled }: Extract<LabelEvent, { type: "label_assigned" }>,
  { jid, lid, phone }: Identity,
): Promise<EventDraft | undefined> {
  const label_id = cleanText(reported);
  const message_id = message === null ? null : cleanText(message);
  if (label_id.length > LONGEST_ID || (message_id?.length ?? 0) > 128) return undefined;
  const { rows: labels } = await sql<{ id: number; name: string | null; color: number | null }>`
    insert into label as l (account_id, instance_id, me, label_id)
    values (${owner.account_id}, ${owner.id}, ${owner.me}, ${label_id})
    on conflict (instance_id, me, label_id) do update set updated_at = now()
    returning id, name, color`.execute(trx);
  const [label] = labels;
  if (!label) return undefined;
  // A chat that was known by its LID only may have a number now.
  const addresses = lid ? [jid, lid] : [jid];
  const { rows } = labelled
    ? await sql`
        insert into labelled (account_id, instance_id, label, jid, message_id)
        select ${owner.account_id}, ${owner.id}, ${label.id}, ${jid}, ${message_id}::text
        where not exists (select from labelled where label = ${label.id} and jid = any(${addresses}::text[])
          and message_id is not distinct from ${message_id}::text)
        on conflict do nothing returning id`.execute(trx)
    : await sql`
        delete from labelled where label = ${label.id} and jid = any(${addresses}::text[])
          and message_id is not distinct from ${message_id}::text returning id`.execute(trx);
  if (rows.length === 0) return undefined;
  const data = {
    change: labelled ? "assigned" : "removed",
    label: { id: label_id, name: label.name, color: label.color },
    jid,
    lid,
    phone,
    message_id,
  };
  return draftOf(owner, jid, data);
}

function draftOf({ id }: Owner, chat: string, data: Record<string, unknown>): EventDraft {
  const about = { jid: null, lid: null, phone: null, message_id: null };
  const isGroup = isGroupJid(chat);
  return {
    event: "label.changed",
    instance_id: id,
    chat,
    ...(isGroup && { tags: ["groups"] }),
    data: { ...about, ...data },
  };
}

async function identify(
  conversations: Conversations,
  { id }: LabelInstance,
  { chat }: Extract<LabelEvent, { type: "label_assigned" }>,
): Promise<Identity> {
  const lid = isLidJid(chat) ? chat : null;
  return conversations.identify(id, { jid: chat, lid, phone: phoneOfJid(chat), push_name: null });
}
