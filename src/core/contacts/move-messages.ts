import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";

const AT_ONCE = 1000;
/** Longer than a node caches the conversation, or a request takes. */
const MIN_AGE = sql`interval '10 minutes'`;

/** Moves the messages of a merged conversation to its new conversation, in batches. */
export async function moveMessages(db: Db, id: number, mostPieces = Number.POSITIVE_INFINITY): Promise<void> {
  for (let piece = 0; piece < mostPieces; piece++) {
    const moved = await db.transaction().execute((trx) => movePiece(trx, id));
    if (moved < AT_ONCE) return;
  }
}

/** Moves messages that nodes with an old cache wrote to merged conversations, or that a crash left behind. */
export async function moveLeftoverMessages(db: Db): Promise<void> {
  const open = await db
    .selectFrom("conversation")
    .select(["id", sql<boolean>`merged_at < now() - ${MIN_AGE}`.as("is_over")])
    .where("merged_at", "is not", null)
    .orderBy("id")
    .execute();
  for (const { id, is_over } of open) {
    await moveMessages(db, id);
    if (is_over) await db.updateTable("conversation").set({ merged_at: null }).where("id", "=", id).execute();
  }
}

async function movePiece(trx: Trx, id: number): Promise<number> {
  const piece = await trx
    .selectFrom("message")
    .select("id")
    .where("conversation_id", "=", id)
    .orderBy("id")
    .limit(AT_ONCE)
    .forUpdate()
    .execute();
  if (piece.length === 0) return 0;
  const ids = piece.map((row) => row.id);
  await mergeDuplicates(trx, id, ids);
  await moveRows(trx, id, ids);
  return piece.length;
}

/**
 * Merges a message that is in both conversations, such as a send by LID and its echo by phone. The row that
 * the gateway created, or that is readable, stays, with the data of the other one.
 */
async function mergeDuplicates(trx: Trx, id: number, ids: number[]): Promise<void> {
  await sql`
    with pair as (
      select old.id as old, duplicate.id as duplicate,
        duplicate.mode is null and (old.mode is not null or (duplicate.type = 'unsupported' and old.type <> 'unsupported'))
          as keeps_old
      from conversation c
      join conversation k on k.id = c.merged_into
      join message old on old.conversation_id = c.id and old.id = any(${ids}::bigint[])
      join message duplicate on duplicate.instance_id = old.instance_id and duplicate.message_id = old.message_id
        and duplicate.jid = k.jid and duplicate.id <> old.id
      where c.id = ${id}
      order by duplicate.id for update of duplicate
    ), chosen as (
      select case when keeps_old then old else duplicate end as keep, case when keeps_old then duplicate else old end as lose
      from pair
    ), deleted as (
      delete from message where id in (select lose from chosen) returning *
    ), unindexed as (
      delete from message_search s using deleted g where s.instance_id = g.instance_id and s.id = g.id
        and s.at = case when g.mode is null then g.sent_at else g.created_at end
    )
    update message m set
      status = case when m.outcome_at is not null and m.from_me and ${rankOf(sql`g.status`)} > ${rankOf(sql`m.status`)}
        then g.status else m.status end,
      read_at = coalesce(m.read_at, g.read_at), edited_at = coalesce(m.edited_at, g.edited_at),
      deleted_at = coalesce(m.deleted_at, g.deleted_at)
    from chosen x join deleted g on g.id = x.lose where m.id = x.keep`.execute(trx);
}

function rankOf(status: ReturnType<typeof sql>) {
  return sql`array_position(array['failed', 'sent', 'delivered', 'read', 'played'], ${status})`;
}

/** Moves the rows with their addresses; waiting sends keep their position in the chat. */
async function moveRows(trx: Trx, id: number, ids: number[]): Promise<void> {
  await sql`
    with moved as (
      update message m set conversation_id = k.id, jid = k.jid,
        sender = case when m.from_me or m.sender is null then m.sender
          else m.sender || jsonb_build_object('jid', k.jid, 'lid', p.lid, 'phone', p.phone) end
      from conversation c
      join conversation k on k.id = c.merged_into
      left join contact p on p.id = k.contact_id
      where c.id = ${id} and m.id = any(${ids}::bigint[])
      returning m.id, m.instance_id, m.jid, m.outcome_at, m.sent_at, m.status, m.queue_pos
    ), queued as (
      update job j set grp = m.jid from moved m join instance i on i.id = m.instance_id
      where m.outcome_at is null and m.status <> 'scheduled' and j.lane = i.lane and j.prio in (0, 1)
        and j.pos = coalesce(m.queue_pos, m.id)
        and j.ref ->> 'do' = 'send'
    )
    update conversation k set last_message_at = greatest(k.last_message_at, (select max(sent_at) from moved))
    from conversation c where c.id = ${id} and k.id = c.merged_into and exists (select from moved)`.execute(
    trx,
  );
}
