import { once } from "node:events";
import { PassThrough } from "node:stream";
import { sql } from "kysely";
import { type Db, isDatabaseUnavailable } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Caller, type HandlerRequest, type Handlers, RawResponse } from "../../platform/http/handler.ts";
import type { Route } from "../../platform/http/route.ts";
import { ulidTime } from "../../platform/ulid.ts";
import type { eventsContract } from "./contract.ts";
import {
  createEventFeed,
  type EventCounter,
  type EventFeed,
  type FeedItem,
  type FeedScope,
} from "./event-feed.ts";

type StreamHandlers = Pick<Handlers<typeof eventsContract>, "streamEvents" | "streamAccountEvents">;

const HEARTBEAT_MS = 15_000;
const LONGEST_MS = 3_600_000;
const STREAMS_AT_ONCE = 50;
/** Events of several instances have no common order, and their times come from several clocks. */
const OVERLAP_MS = 30_000;

/** Streams events as they are recorded (server-sent events); a client resumes with `Last-Event-ID`. */
export function streamHandlers(db: Db): StreamHandlers {
  const feed = createEventFeed(db);
  const open = createStreams(feed);
  return {
    async streamEvents(request) {
      const { id } = request.input;
      const lastSeen = readSequence(request.headers["last-event-id"]);
      const after =
        lastSeen === undefined
          ? toMap(await feed.readCounters({ instance_id: id }))
          : new Map([[id, lastSeen]]);
      return open(request, { instance_id: id }, after, (item) => String(item.sequence));
    },

    async streamAccountEvents(request) {
      const account_id = accountOf(request.caller);
      const lastSeen = readEventTime(request.headers["last-event-id"]);
      const after = toMap(await feed.readCounters({ account_id }));
      if (lastSeen) await rewind(db, account_id, lastSeen, after);
      return open(request, { account_id }, after, (item) => item.event_id);
    },
  };
}

type OpenStreams = (
  request: Pick<HandlerRequest<Route>, "signal" | "log">,
  followed: FeedScope,
  after: ReadonlyMap<number, number>,
  idOf: (item: FeedItem) => string,
) => RawResponse;

function createStreams(feed: EventFeed): OpenStreams {
  const counts = new Map<string, number>();
  return (request, followed, after, idOf) => {
    const key = JSON.stringify(followed);
    const count = counts.get(key) ?? 0;
    if (count >= STREAMS_AT_ONCE) throw tooMany();
    counts.set(key, count + 1);
    const output = new PassThrough();
    void run(feed, request, followed, after, idOf, output).finally(() => {
      const left = (counts.get(key) ?? 1) - 1;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
    });
    return new RawResponse("text/event-stream", output, 200, {
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
  };
}

function tooMany(): GatewayError {
  return new GatewayError(
    "RATE_LIMITED",
    `${STREAMS_AT_ONCE} of these streams are open already. Close one first.`,
    {
      details: { limit: STREAMS_AT_ONCE },
      retryAfterSeconds: 30,
    },
  );
}

/** Runs until the client disconnects, the server stops, or the longest duration has passed. */
async function run(
  feed: EventFeed,
  request: Parameters<OpenStreams>[0],
  followed: FeedScope,
  after: ReadonlyMap<number, number>,
  idOf: (item: FeedItem) => string,
  output: PassThrough,
): Promise<void> {
  const closed = new AbortController();
  output.once("close", () => closed.abort());
  const signal = AbortSignal.any([request.signal, closed.signal, AbortSignal.timeout(LONGEST_MS)]);
  const heartbeat = setInterval(() => {
    if (!output.writableNeedDrain) output.write(": still here\n\n");
  }, HEARTBEAT_MS);
  output.write("retry: 2000\n\n");
  try {
    await feed.follow(followed, after, (item) => write(output, toFrame(item, idOf(item)), signal), signal);
  } catch (error) {
    if (!signal.aborted && !isDatabaseUnavailable(error))
      request.log.error({ err: error }, "an event stream failed");
  } finally {
    clearInterval(heartbeat);
    if (request.signal.aborted) output.destroy();
    else output.end();
  }
}

function toFrame(item: FeedItem, id: string): string {
  return `id: ${id}\nevent: ${item.event}\ndata: ${item.body.toString("utf8")}\n\n`;
}

/** A slow client delays its events here instead of filling the memory. */
async function write(output: PassThrough, frame: string, signal: AbortSignal): Promise<void> {
  if (!output.write(frame)) await once(output, "drain", { signal });
}

type Header = string | string[] | undefined;

function readSequence(header: Header): number | undefined {
  if (header === undefined || header === "") return undefined;
  if (typeof header === "string" && /^\d{1,15}$/.test(header)) return Number(header);
  throw invalidField("Last-Event-ID", "must be the sequence of an event of this stream");
}

function readEventTime(header: Header): Date | undefined {
  if (header === undefined || header === "") return undefined;
  const refusal = invalidField("Last-Event-ID", "must be the event_id of an event of this stream");
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

function accountOf(caller: Caller): number {
  if (caller.kind === "user") return caller.account_id;
  throw new GatewayError(
    "AUTH_REQUIRED",
    "This route needs a signed-in user: send the token of POST /api/auth/login as Authorization: Bearer.",
  );
}
