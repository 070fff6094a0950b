import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { createWriter } from "../../engine/writer.ts";
import type { Db } from "../../platform/db.ts";

/** A chat and the person or group behind it, as far as it is known. */
export interface Chat {
  account_id: number;
  instance_id: number;
  jid: string;
  type: "contact" | "group";
  phone: string | null;
  lid: string | null;
  push_name: string | null;
}

export interface Conversations {
  /** The conversation's id; made, with its contact, when it is new or when the chat tells something new. */
  idOf(chat: Chat): Promise<number>;
}

const REMEMBERED = 50_000;

/** Finds and makes conversations; what is known already costs no query. */
export function createConversations(db: Db): Conversations {
  const known = new LRUCache<string, { id: number; told: string }>({ max: REMEMBERED });
  const writer = createWriter<Chat, number>({ write: (chats) => saveChats(db, chats) });

  return {
    async idOf(chat) {
      const key = `${chat.instance_id} ${chat.jid}`;
      const told = `${chat.phone ?? ""} ${chat.lid ?? ""} ${chat.push_name ?? ""}`;
      const found = known.get(key);
      if (found && (found.told === told || !saysMore(chat))) return found.id;
      const id = await writer.write(chat);
      known.set(key, { id, told });
      return id;
    },
  };
}

/** A bare address adds nothing to what is known. */
function saysMore(chat: Chat): boolean {
  return chat.push_name !== null || chat.lid !== null;
}

/** Rows are written in one order, so that two batches never wait for each other in a circle. */
async function saveChats(db: Db, chats: Chat[]): Promise<number[]> {
  const unique = [...new Map(chats.map((chat) => [`${chat.instance_id} ${chat.jid}`, chat])).values()];
  const input = JSON.stringify(unique);
  const { rows } = await sql<{ id: number; instance_id: number; jid: string }>`
    with input as (
      select * from jsonb_to_recordset(${input}::jsonb) as x (
        account_id bigint, instance_id bigint, jid text, type text, phone text, lid text, push_name text)
      order by instance_id, jid
    ), people as (
      insert into contact (account_id, instance_id, jid, lid, phone, push_name)
      select account_id, instance_id, jid, lid, phone, push_name from input where type = 'contact'
      order by instance_id, jid
      on conflict (instance_id, jid) do update set
        lid = coalesce(excluded.lid, contact.lid), phone = coalesce(excluded.phone, contact.phone),
        push_name = coalesce(excluded.push_name, contact.push_name), updated_at = now()
    )
    insert into conversation (account_id, instance_id, jid, phone, title, type)
    select account_id, instance_id, jid, phone, push_name, type from input order by instance_id, jid
    on conflict (instance_id, jid) do update set
      phone = coalesce(excluded.phone, conversation.phone), title = coalesce(excluded.title, conversation.title)
    returning id, instance_id, jid`.execute(db);
  const ids = new Map(rows.map((row) => [`${row.instance_id} ${row.jid}`, row.id]));
  return chats.map(({ instance_id, jid }) => {
    const id = ids.get(`${instance_id} ${jid}`);
    if (id === undefined)
      throw new Error(`The conversation ${jid} of instance ${instance_id} was not saved.`);
    return id;
  });
}
