import type { Engine } from "../../engine/engine.ts";
import type { NetworkEvent } from "../../network/driver.ts";
import { isGroupJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import type { Conversations } from "../contacts/contacts.ts";
import { type EventTag, recordEvents } from "../events/events.ts";

interface Deps {
  db: Db;
  engine: Pick<Engine, "wake">;
  conversations: Conversations;
}

/** Records the presence of a person as an event; nothing else of it is stored. */
export async function recordPresence(
  { db, engine, conversations }: Deps,
  instance_id: number,
  {
    chat,
    who,
    presence,
    last_seen_at,
    at,
    expires_at = at,
  }: Extract<NetworkEvent, { type: "presence_changed" }>,
): Promise<void> {
  const person = await conversations.identify(instance_id, cleanFromNetwork(who));
  const isGroup = isGroupJid(chat);
  const jid = isGroup ? chat : person.jid;
  const times = { at: at.toISOString(), expires_at: expires_at.toISOString() };
  const data = { jid, person, presence, last_seen_at: last_seen_at?.toISOString() ?? null, ...times };
  const tags: EventTag[] = isGroup ? ["groups"] : [];
  const event = { event: "presence.changed" as const, instance_id, chat: jid, tags, data };
  engine.wake(await db.transaction().execute((trx) => recordEvents(trx, [event])));
}
