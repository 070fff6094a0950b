import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { Caller, HandlerRequest, Handlers } from "../../platform/http/handler.ts";
import type { Route } from "../../platform/http/route.ts";
import type { Reach } from "../../platform/reach.ts";
import { ulidTime } from "../../platform/ulid.ts";
import type { eventsContract } from "./contract.ts";
import { createEventFeed, type EventCounter, type FeedItem, type FeedScope } from "./event-feed.ts";
import { createEventStreams } from "./event-streams.ts";

type StreamHandlers = Pick<Handlers<typeof eventsContract>, "streamEvents" | "streamAccountEvents">;

/** Events of several instances have no common order, and their times come from several clocks. */
const OVERLAP_MS = 30_000;

/** Streams events as they are recorded (server-sent events); a client resumes with `Last-Event-ID`. */
export function streamHandlers(db: Db): StreamHandlers {
  const feed = createEventFeed(db);
  const openStream = createEventStreams();
  const open = (
    request: Pick<HandlerRequest<Route>, "signal" | "log">,
    key: string,
    followed: FeedScope,
    after: ReadonlyMap<number, number>,
    idOf: (item: FeedItem) => string,
  ) =>
    openStream(request, key, (send, signal) =>
      feed.follow(followed, after, (item) => send(toFrame(item, idOf(item))), signal),
    );
  return {
    async streamEvents(request) {
      const { id } = request.input;
      const lastSeen = readSequence(request.headers["last-event-id"]);
      const after =
        lastSeen === undefined
          ? toMap(await feed.readCounters({ instance_id: id }))
          : new Map([[id, lastSeen]]);
      return open(request, `instance ${id}`, { instance_id: id }, after, (item) => String(item.sequence));
    },

    async streamAccountEvents(request) {
      const reach = reachOf(request.caller);
      const { account_id } = reach;
      const lastSeen = readEventTime(request.headers["last-event-id"]);
      const after = toMap(await feed.readCounters(reach));
      if (lastSeen) await rewind(db, account_id, lastSeen, after);
      return open(request, `account ${account_id}`, reach, after, (item) => item.event_id);
    },
  };
}

function toFrame({ event, body }: FeedItem, id: string) {
  return { id, event, data: body.toString("utf8") };
}

type Header = string | string[] | undefined;

function readSequence(header: Header): number | undefined {
  if (header === undefined || header === "") return undefined;
  if (typeof header === "string" && /^\d{1,15}$/.test(header)) return Number(header);
  throw invalidField("Last-Event-ID", "must be the sequence of an event of this stream", "not_found");
}

function readEventTime(header: Header): Date | undefined {
  if (header === undefined || header === "") return undefined;
  const refusal = invalidField(
    "Last-Event-ID",
    "must be the event_id of an event of this stream",
    "not_found",
  );
  if (typeof header !== "string" || !header.startsWith("evt_")) throw refusal;
  try {
    return ulidTime(header.slice("evt_".length));
  } catch {
    throw refusal;
  }
}

function toMap(counters: readonly EventCounter[]): Map<number, number> {
  return new Map(counters.map(({ instance_id, last }) => [instance_id, last]));
}

/** Rewinds each instance to its first event since shortly before the last event that the client received. */
async function rewind(db: Db, accountId: number, lastSeen: Date, after: Map<number, number>): Promise<void> {
  const since = new Date(lastSeen.getTime() - OVERLAP_MS);
  const { rows } = await sql<{ instance_id: number; first: number }>`
    select i.id as instance_id, e.sequence as first
    from instance i cross join lateral (
      select sequence from event where instance_id = i.id and created_at >= ${since} order by sequence limit 1
    ) e
    where i.account_id = ${accountId}`.execute(db);
  for (const { instance_id, first } of rows) after.set(instance_id, first - 1);
}

function reachOf(caller: Caller): Reach {
  if (caller.kind === "user") return caller;
  throw new GatewayError(
    "AUTH_REQUIRED",
    "This route needs a signed-in user: send the token of POST /api/auth/login as Authorization: Bearer.",
  );
}
