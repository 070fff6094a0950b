import { sql } from "kysely";
import type { Conversations } from "../../core/contacts/contacts.ts";
import { type EventDraft, recordEvents } from "../../core/events/events.ts";
import type { FollowedEvent } from "../../core/sessions/sessions.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Identity, InboundContent } from "../../network/driver.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";

interface StatusEventDeps {
  db: Db;
  engine: Pick<Engine, "wake">;
  conversations: Conversations;
}

interface StatusInstance {
  id: number;
  account_id: number;
}

const LONGEST_TEXT = 4096;

/** Reports a story of another person, if a webhook subscribes to it, or stores a view of an own one. */
export async function recordStatusEvent(
  { db, engine, conversations }: StatusEventDeps,
  instance: StatusInstance,
  event: Extract<FollowedEvent, { type: "status_received" | "status_viewed" }>,
): Promise<void> {
  const by = cleanFromNetwork(await conversations.identify(instance.id, event.by));
  const lanes = await db.transaction().execute(async (trx) => {
    const drafts =
      event.type === "status_viewed"
        ? await recordViews(trx, instance, event.ids, by, event.at)
        : [{ message_id: event.id, ...viewOf(event.content) }];
    const name = event.type === "status_viewed" ? "status.viewed" : "status.received";
    return recordEvents(
      trx,
      drafts.map(
        (data): EventDraft => ({
          event: name,
          instance_id: instance.id,
          chat: by.jid,
          data: { ...data, by, at: event.at.toISOString() },
        }),
      ),
    );
  });
  engine.wake(lanes);
}

/** The stories of which this is the first view of the person; those that the gateway did not send are unknown. */
async function recordViews(
  trx: Trx,
  { id, account_id }: StatusInstance,
  ids: readonly string[],
  { jid, lid, phone }: Identity,
  at: Date,
): Promise<{ message_id: string }[]> {
  const { rows } = await sql<{ message_id: string }>`
    with own as (
      update status_update set sent_at = coalesce(sent_at, ${at}) where instance_id = ${id} and message_id = any(${ids}::text[])
      returning id, message_id
    ), viewed as (
      insert into status_view (account_id, instance_id, status, jid, lid, phone, viewed_at)
      select ${account_id}, ${id}, o.id, ${jid}, ${lid}, ${phone}, ${at} from own o
      where not exists (select from status_view v where v.status = o.id and (v.jid = ${jid} or v.lid = ${lid}))
      on conflict do nothing returning status
    )
    select o.message_id from viewed v join own o on o.id = v.status`.execute(trx);
  return rows;
}

function viewOf(content: InboundContent) {
  const text = content.kind === "text" ? content.text : null;
  const media = content.kind === "media" ? content : undefined;
  return cleanFromNetwork({
    type: media ? media.media_type : content.kind,
    text: text?.slice(0, LONGEST_TEXT) ?? null,
    caption: media?.caption?.slice(0, LONGEST_TEXT) ?? null,
    media: media ? { mime_type: media.mime_type, size: media.size, seconds: media.seconds ?? null } : null,
  });
}
