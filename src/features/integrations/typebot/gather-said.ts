import { sql } from "kysely";
import type { Db, Trx } from "../../../platform/db.ts";
import type { Integration } from "../integration-row.ts";
import type { EventWork, IntegrationDeps } from "../provider.ts";
import { joinSaid, readSaid, type Said } from "./read-said.ts";

/** Messages that were written in quick succession, as one. */
export interface Gathered {
  said: Said;
  /** Jobs of the messages that were joined to the first. */
  jobs: number[];
  /** Their network ids. */
  keys: string[];
}

const MOST_JOINED = 20;
/** Somebody who goes on writing is answered after so many pauses. */
const LONGEST_PAUSES = 5;

interface WaitingMessage {
  job: number;
  at: Date;
  /** Null for what nobody said, such as a receipt. */
  // biome-ignore lint/suspicious/noExplicitAny: as in `EventWork`
  message: any;
}

/**
 * What was said with a message and with those of its kind that wait behind it in its chat, or until when to wait for more of
 * them: until it is quiet for `quietMs`.
 */
export async function gatherSaid(
  { db, links }: Pick<IntegrationDeps, "db" | "links">,
  { job, event }: EventWork,
  said: Said,
  quietMs: number,
): Promise<Gathered | { waitUntil: Date }> {
  if (quietMs === 0) return { said, jobs: [], keys: [] };
  const behind = sameKind(links, said, await readWaiting(db, job));
  const lastAt = behind.at(-1)?.at ?? event.recorded_at;
  const quietAt = lastAt.getTime() + quietMs;
  const latestAt = event.recorded_at.getTime() + LONGEST_PAUSES * quietMs;
  const waitUntil = Math.min(quietAt, latestAt);
  if (waitUntil > Date.now()) return { waitUntil: new Date(waitUntil) };
  return {
    said: joinSaid(
      said,
      behind.map((one) => one.said),
    ),
    jobs: behind.map((one) => one.job),
    keys: behind.map((one) => one.message_id),
  };
}

async function readWaiting(db: Db, { id, lane, grp }: EventWork["job"]): Promise<WaitingMessage[]> {
  const { rows } = await sql<WaitingMessage>`
    select j.id as job, e.created_at as at,
      case when e.event = 'message.received' then convert_from(e.body, 'UTF8')::jsonb -> 'data' -> 'message' end as message
    from (
      select id, pos, prio, ref from job where lane = ${lane.id} and grp = ${grp} and id <> ${id} and ref ->> 'do' = 'event'
      order by prio, pos limit ${MOST_JOINED}
    ) j
    join event e on e.event_id = j.ref ->> 'event_id' and e.created_at = (j.ref ->> 'at')::timestamptz
    order by j.prio, j.pos`.execute(db);
  return rows;
}

/** Up to the first of another kind: what comes after it was said after it. */
function sameKind(links: IntegrationDeps["links"], { kind }: Said, waiting: readonly WaitingMessage[]) {
  const joined: { job: number; at: Date; message_id: string; said: Said }[] = [];
  for (const { job, at, message } of waiting) {
    const said = message === null ? undefined : readSaid({ links }, message);
    if (said?.kind !== kind) break;
    joined.push({ job, at, message_id: message.message_id, said });
  }
  return joined;
}

/** Ends the jobs of what was joined; their messages are marked, in case one of them is run all the same. */
export async function dropGathered(
  trx: Trx,
  { id: integration_id, account_id }: Integration,
  chat: string,
  { jobs, keys }: Pick<Gathered, "jobs" | "keys">,
): Promise<void> {
  if (jobs.length === 0) return;
  const links = keys.map((message_id) => ({ integration_id, account_id, chat, message_id }));
  await trx
    .insertInto("integration_link")
    .values(links.map((link) => ({ ...link, origin: "whatsapp" as const, status: "skipped" as const })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await trx.deleteFrom("job").where("id", "in", jobs).execute();
}
