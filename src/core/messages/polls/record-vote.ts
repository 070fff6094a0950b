import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { Jid, NetworkEvent, PollContent, PollVote } from "../../../network/driver.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { cleanFromNetwork } from "../../../platform/text/clean-text.ts";
import { addressesOf } from "../../contacts/contacts.ts";
import { type EventDraft, recordEvents } from "../../events/events.ts";
import { responseEvent } from "../log/message-events.ts";
import { type MessageRow, selectMessages } from "../log/message-view.ts";
import { answerByVote } from "./answer-by-text.ts";

/** A vote that a session reports. */
export type ReportedVote = Extract<NetworkEvent, { type: "poll_voted" }>;

/** Why a vote does not count. */
export type RefusedVoteReason = "not_a_poll" | "too_many_options" | "ended" | "outdated";

/** The event of the vote, and that of the answer which it gives. */
export type RecordedVote = { events: EventDraft[] } | { refused: RefusedVoteReason };

/** Stores a vote with its event in one commit. Returns why it does not count, if so. */
export async function recordVote(
  db: Db,
  engine: Engine,
  instanceId: number,
  { chat, id, ...vote }: ReportedVote,
): Promise<RefusedVoteReason | undefined> {
  const { lanes, refused } = await db.transaction().execute(async (trx) => {
    const row = await findPoll(trx, instanceId, chat, id);
    const recorded: RecordedVote = row ? await applyVote(trx, row, vote) : { refused: "not_a_poll" };
    if ("refused" in recorded) return { lanes: [], ...recorded };
    return { lanes: await recordEvents(trx, recorded.events), refused: undefined };
  });
  engine.wake(lanes);
  return refused;
}

/** Locks the poll, so that its votes are stored one after the other. */
function findPoll(trx: Trx, instanceId: number, chat: Jid, id: string): Promise<MessageRow | undefined> {
  return selectMessages(trx)
    .where("m.instance_id", "=", instanceId)
    .where("m.message_id", "=", id)
    .where("m.jid", "in", addressesOf(chat))
    .orderBy(sql`m.jid <> ${chat}`)
    .forUpdate("m")
    .executeTakeFirst();
}

/** Stores the vote on a locked message, and returns its event. */
export async function applyVote(trx: Trx, row: MessageRow, reported: PollVote): Promise<RecordedVote> {
  const poll = pollOf(row);
  if (!poll || row.deleted_at) return { refused: "not_a_poll" };
  const { by, options, at } = cleanFromNetwork(reported);
  if (poll.selectable_count > 0 && options.length > poll.selectable_count)
    return { refused: "too_many_options" };
  if (poll.ends_at !== undefined && at > new Date(poll.ends_at)) return { refused: "ended" };
  if (!(await storeVote(trx, row, { by, options, at }))) return { refused: "outdated" };
  const data = {
    message_id: row.message_id,
    jid: row.jid,
    voter: poll.hide_voters ? null : by,
    options: poll.options.filter(({ id }) => options.includes(id)),
    at: at.toISOString(),
  };
  const answer = await answerByVote(trx, row, { by, options, at });
  return { events: [responseEvent("poll.voted", row, data), ...(answer ? [answer] : [])] };
}

export function pollOf({ content }: Pick<MessageRow, "content">): PollContent | undefined {
  return content.kind === "text" ? content.poll : undefined;
}

/**
 * Replaces the person's earlier vote, also one under the other address. False if that one is later, or the same: the
 * network delivers a vote again after a crash.
 */
async function storeVote(
  trx: Trx,
  { id, account_id, instance_id }: MessageRow,
  { by, options, at }: PollVote,
): Promise<boolean> {
  const addresses = [...addressesOf(by.jid), ...(by.lid === null ? [] : [by.lid])];
  const { rows } = await sql`
    with former as (
      select person, at, options from poll_vote where message = ${id} and person = any(${addresses}::text[])
    ), accepted as (
      select where not exists (
        select from former where at > ${at} or (at = ${at} and options = ${options}::text[]))
    ), deleted as (
      delete from poll_vote where message = ${id} and person <> ${by.jid} and exists (select from accepted)
        and person in (select person from former)
    )
    insert into poll_vote (message, person, account_id, instance_id, jid, lid, phone, name, options, at)
    select ${id}, ${by.jid}, ${account_id}, ${instance_id}, ${by.jid}, ${by.lid}, ${by.phone}, ${by.push_name},
      ${options}::text[], ${at}
    from accepted
    on conflict (message, person) do update set lid = coalesce(excluded.lid, poll_vote.lid),
      phone = coalesce(excluded.phone, poll_vote.phone), name = coalesce(excluded.name, poll_vote.name),
      options = excluded.options, at = excluded.at
    returning message`.execute(trx);
  return rows.length > 0;
}
