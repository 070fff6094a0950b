import { sql } from "kysely";
import type { Db, Trx } from "../../../platform/db.ts";
import type { Integration } from "../integration-row.ts";
import type { EventWork } from "../provider.ts";
import type { TypebotConfig } from "./config.ts";

/** Messages that were written in quick succession, as one. */
export interface Gathered {
  text: string;
  /** Jobs of the messages that were joined to the first. */
  jobs: number[];
  /** Their network ids. */
  keys: string[];
}

const MOST_JOINED = 20;
/** Somebody who goes on writing is answered after so many pauses. */
const LONGEST_PAUSES = 5;

interface WaitingText {
  job: number;
  message_id: string;
  text: string | null;
  at: Date;
}

/** The words of a message and of those that wait behind it in its chat, or until when to wait for more of them. */
export async function gatherWords(
  db: Db,
  { job, event }: EventWork,
  text: string,
  { debounce_ms }: TypebotConfig,
): Promise<Gathered | { waitUntil: Date }> {
  if (debounce_ms === 0) return { text, jobs: [], keys: [] };
  const behind = textsOf(await readWaiting(db, job));
  const lastAt = behind.at(-1)?.at ?? event.recorded_at;
  const quietAt = lastAt.getTime() + debounce_ms;
  const latestAt = event.recorded_at.getTime() + LONGEST_PAUSES * debounce_ms;
  const waitUntil = Math.min(quietAt, latestAt);
  if (waitUntil > Date.now()) return { waitUntil: new Date(waitUntil) };
  return {
    text: [text, ...behind.map((one) => one.text)].join("\n"),
    jobs: behind.map((one) => one.job),
    keys: behind.map((one) => one.message_id),
  };
}

async function readWaiting(db: Db, { id, lane, grp }: EventWork["job"]): Promise<WaitingText[]> {
  const { rows } = await sql<WaitingText>`
    select j.id as job, e.created_at as at, b.message ->> 'message_id' as message_id,
      case when e.event = 'message.received' then b.message ->> 'text' end as text
    from (
      select id, pos, prio, ref from job where lane = ${lane.id} and grp = ${grp} and id <> ${id} and ref ->> 'do' = 'event'
      order by prio, pos limit ${MOST_JOINED}
    ) j
    join event e on e.event_id = j.ref ->> 'event_id' and e.created_at = (j.ref ->> 'at')::timestamptz
    cross join lateral (select convert_from(e.body, 'UTF8')::jsonb -> 'data' -> 'message' as message) b
    order by j.prio, j.pos`.execute(db);
  return rows;
}

/** Up to the first that is no text: what comes after it was said after it. */
function textsOf(waiting: WaitingText[]): WaitingText[] {
  const end = waiting.findIndex(({ text }) => text === null);
  return end < 0 ? waiting : waiting.slice(0, end);
}

/** Ends the jobs of what was joined; their messages are marked, in case one of them is run all the same. */
export async function dropGathered(
  trx: Trx,
  { id: integration_id, account_id }: Integration,
  chat: string,
  { jobs, keys }: Gathered,
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
