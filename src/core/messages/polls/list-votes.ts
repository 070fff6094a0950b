import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { MessageRow } from "../log/message-view.ts";
import { pollOf } from "./record-vote.ts";

/** As many people as a group can have. */
const MOST_VOTERS = 1024;

interface VoteRow {
  option: string;
  /** Votes for the option. */
  count: number;
  /** People who have chosen an option of the poll. */
  voters: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  name: string | null;
  at: Date;
}

/** The votes of a poll by option; CONFLICT for other messages. */
export async function listVotes(db: Db, message: MessageRow) {
  const poll = pollOf(message);
  if (!poll)
    throw new GatewayError("CONFLICT", "Only a poll has votes, and this message is none.", {
      details: { reason: "not_a_poll" },
    });
  const ids = poll.options.map(({ id }) => id);
  const { rows } = await selectVotes(message.id, ids).execute(db);
  return {
    question: poll.question,
    options: poll.options.map(({ id, text }) => {
      const votes = rows.filter(({ option }) => option === id);
      return { id, text, count: votes[0]?.count ?? 0, voters: poll.hide_voters ? [] : votes.map(toVoter) };
    }),
    voters: rows[0]?.voters ?? 0,
    ends_at: poll.ends_at ?? null,
  };
}

function toVoter({ jid, lid, phone, name, at }: VoteRow) {
  return { jid, lid, phone, name, at: at.toISOString() };
}

/** A person who has voted under two addresses is known by the contact that has both; the later vote counts. */
export function selectVotes(message: number, options: readonly string[]): RawBuilder<VoteRow> {
  return sql<VoteRow>`
    with vote as materialized (
      select distinct on (coalesce(c.jid, v.person)) v.instance_id, coalesce(c.jid, v.jid) as jid,
        coalesce(v.lid, c.lid) as lid, coalesce(v.phone, c.phone) as phone, v.name, v.options, v.at
      from poll_vote v
      left join contact c on v.person like '%@lid' and c.instance_id = v.instance_id and c.lid = v.person
      where v.message = ${message}
      order by coalesce(c.jid, v.person), v.at desc
    ), chosen as (
      select o.option, v.*, count(*) over (partition by o.option) as count,
        row_number() over (partition by o.option order by v.at desc, v.jid) as nth
      from vote v cross join lateral unnest(v.options) as o (option)
      where o.option = any(${options}::text[])
    )
    select v.option, v.count::int, (select count(*) from vote where options && ${options}::text[])::int as voters,
      v.jid, v.lid, v.phone, coalesce(c.name, c.push_name, c.verified_name, v.name) as name, v.at
    from chosen v left join contact c on c.instance_id = v.instance_id and c.jid = v.jid
    where v.nth <= ${MOST_VOTERS} order by v.option, v.nth`;
}
