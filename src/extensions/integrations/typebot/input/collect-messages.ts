import { sql } from "kysely";
import type { Db } from "../../../../platform/db/database.ts";
import type { EventWork, IntegrationDeps } from "../../integration-provider.ts";
import { joinUserInput, readUserInput, type UserInput } from "./read-user-input.ts";

/** A message that waits behind another one, and is sent together with it. */
export interface Joined {
  job: number;
  message_id: string;
}

/** Messages in quick succession, as one. */
export interface CollectedMessages {
  input: UserInput;
  /** The messages joined to the first. */
  joined: Joined[];
}

interface Gathering {
  /** How long the chat must be quiet. */
  quietMs: number;
  /** Whether both can be sent as one. */
  isJoined(first: UserInput, next: UserInput): boolean;
}

/** The clock of the quiet time; tests move it. */
export const QUIET_CLOCK = { now: () => Date.now() };
const MOST_JOINED = 20;
/** A user who keeps writing gets a response after this many pauses. */
const LONGEST_PAUSES = 5;

interface WaitingMessage {
  job: number;
  at: Date;
  /** Null for events that are not messages, such as a receipt. */
  // biome-ignore lint/suspicious/noExplicitAny: as in `EventWork`
  message: any;
}

/** Joins a message with the waiting ones behind it, or returns until when to wait for more of them. */
export async function collectMessages(
  { db, mediaUrls }: Pick<IntegrationDeps, "db" | "mediaUrls">,
  { job, event }: EventWork,
  input: UserInput,
  { quietMs, isJoined }: Gathering,
): Promise<CollectedMessages | { waitUntil: Date }> {
  if (quietMs === 0) return { input, joined: [] };
  const behind = readBehind(mediaUrls, await readWaiting(db, job), (next) => isJoined(input, next));
  const lastAt = behind.at(-1)?.at ?? event.recorded_at;
  const quietAt = lastAt.getTime() + quietMs;
  const latestAt = event.recorded_at.getTime() + LONGEST_PAUSES * quietMs;
  const waitUntil = Math.min(quietAt, latestAt);
  if (waitUntil > QUIET_CLOCK.now()) return { waitUntil: new Date(waitUntil) };
  return {
    input: joinUserInput(
      input,
      behind.map((one) => one.input),
    ),
    joined: behind.map(({ job, message_id }) => ({ job, message_id })),
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

/** Stops at the first message that is not joined, to keep the order. */
function readBehind(
  mediaUrls: IntegrationDeps["mediaUrls"],
  waiting: readonly WaitingMessage[],
  isJoined: (next: UserInput) => boolean,
) {
  const behind: (Joined & { at: Date; input: UserInput })[] = [];
  for (const { job, at, message } of waiting) {
    const input = message === null ? undefined : readUserInput({ mediaUrls }, message);
    if (!input || !isJoined(input)) break;
    behind.push({ job, at, message_id: message.message_id, input });
  }
  return behind;
}
