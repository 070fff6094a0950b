import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type Client, createClient, type StreamBody } from "../../client/client.ts";
import { createAccount } from "../accounts/users/create-account.ts";

interface Frame {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads only the fields of the payload that it needs
  data: any;
}

/** The frames that a client has read so far. */
interface Reading {
  frames: Frame[];
  comments: string[];
  /** Resolves when the gateway ends the stream. */
  ended: Promise<void>;
  /** Resolves with the first `count` frames or more. */
  first(count: number): Promise<Frame[]>;
  /** Resolves when each of these texts is in a frame. */
  has(...texts: string[]): Promise<void>;
  close(): Promise<void>;
}

let gateway: TestGateway;
let shop: TestInstance;
let open: Reading[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  shop = await gateway.connectInstance();
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.map((reading) => reading.close()));
  open = [];
});

const BIA = "5511977771011";
const say = (text: string, instance = shop) =>
  instance.client.sandboxReceive({ id: instance.id, from: BIA, text });

const received = async () => (await shop.client.listEvents({ id: shop.id, event: "message.received" })).data;

async function follow(lastEventId?: string | number, instance = shop): Promise<Reading> {
  return read((call) => instance.client.streamEvents({ id: instance.id }, call), lastEventId);
}

async function followAccount(lastEventId?: string, client: Client = gateway.owner): Promise<Reading> {
  return read((call) => client.streamAccountEvents({}, call), lastEventId);
}

async function read(
  begin: (call: { headers: Record<string, string>; signal: AbortSignal }) => Promise<StreamBody>,
  lastEventId: string | number | undefined,
): Promise<Reading> {
  const input = new AbortController();
  const headers: Record<string, string> = {};
  if (lastEventId !== undefined) headers["last-event-id"] = String(lastEventId);
  const { type, stream } = await begin({ headers, signal: input.signal });
  expect(type).toMatch(/^text\/event-stream/);
  const frames: Frame[] = [];
  const comments: string[] = [];
  const ended = consume(stream, frames, comments);
  const reading: Reading = {
    frames,
    comments,
    ended,
    async first(count) {
      await waitUntil(() => frames.length >= count);
      return frames.slice(0, count);
    },
    has: (...texts) => waitUntil(() => texts.every((text) => frames.some((frame) => textOf(frame) === text))),
    async close() {
      input.abort();
      await ended;
    },
  };
  open.push(reading);
  return reading;
}

async function consume(
  stream: ReadableStream<Uint8Array>,
  frames: Frame[],
  comments: string[],
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const part of stream) {
      const blocks = (rest + decoder.decode(part, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
        const [id, event, data] = [fields.get("id"), fields.get("event"), fields.get("data")];
        if (data === undefined) comments.push(block);
        else frames.push({ id: id ?? "", event: event ?? "", data: JSON.parse(data) });
      }
    }
  } catch {
    // Closed by the client or the gateway.
  }
}

const textOf = ({ data }: Frame) => data.data.message?.text;

describe("the event stream of an instance", () => {
  test("sends all later events in order, with the same bytes as the webhooks", async () => {
    await say("Before");
    await waitUntil(async () => (await received()).length === 1);
    const stream = await follow();
    for (const text of ["one", "two", "three"]) await say(text);
    const frames = await stream.first(3);
    expect(frames.map(textOf)).toEqual(["one", "two", "three"]);
    const first = frames[0] as Frame;
    expect(first.event).toBe("message.received");
    expect(first.id).toBe(String(first.data.sequence));
    const { data } = await shop.client.getEvent({ id: shop.id, eventId: first.data.event_id });
    expect(data.payload).toEqual(first.data);
  });

  test("resumes after the Last-Event-ID without a gap or a duplicate", async () => {
    const before = await follow(0);
    await say("seen");
    await before.has("seen");
    const last = before.frames.at(-1)?.id;
    await before.close();
    for (const text of ["missed 1", "missed 2"]) await say(text);
    const after = await follow(last);
    await say("live");
    await after.has("live");
    const sequences = [...before.frames, ...after.frames].map(({ data }) => data.sequence);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  });

  test("begins with the oldest stored event if the Last-Event-ID is older", async () => {
    for (const text of ["dropped", "kept"]) await say(text);
    await waitUntil(async () => (await received()).length === 2);
    const [newest] = await received();
    await sql`delete from event where instance_id = ${shop.id} and sequence < ${newest?.sequence}`.execute(
      gateway.database.db,
    );
    const [first] = await (await follow(0)).first(1);
    expect(first && textOf(first)).toBe("kept");
  });

  test.each(["abc", "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP"])(
    "rejects the Last-Event-ID %s, and reports the valid values",
    async (lastEventId) => {
      const response = await fetch(`${gateway.url}/api/v1/instances/${shop.id}/events/stream`, {
        headers: { "x-api-key": shop.api_key, "last-event-id": lastEventId },
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: "VALIDATION_ERROR",
        details: { fields: [{ field: "Last-Event-ID", issue: expect.stringContaining("sequence") }] },
      });
    },
  );

  test("sends a backlog of thousands of events without a gap", async () => {
    await makeEvents(3_000, 200);
    const stream = await follow(0);
    await waitUntil(() => stream.frames.length >= 3_000);
    expect(stream.frames.map(({ data }) => data.sequence)).toEqual(
      stream.frames.map((_, index) => index + 1),
    );
  });

  test("sends a keep-alive every 15 s", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stream = await follow();
    await waitUntil(() => stream.comments.length === 1);
    expect(stream.comments).toEqual(["retry: 2000"]);
    vi.advanceTimersByTime(15_000);
    await waitUntil(() => stream.comments.length === 2);
    expect(stream.comments[1]).toBe(": still here");
  });

  test("waits for a slow reader without reading the events ahead of it", async () => {
    await makeEvents(800, 100_000);
    const query = vi.spyOn(pg.Client.prototype, "query");
    const pagesRead = () =>
      query.mock.calls.filter(([sent]) => JSON.stringify(sent).includes('\\"body\\" from \\"event\\"'))
        .length;
    const slow = await openRaw();
    slow.response.pause();
    const fast = await openRaw();
    await readMost(fast.response);
    // The fast reader takes 16 pages of 50 events; the slow one's socket buffers a few megabytes.
    expect(pagesRead()).toBeGreaterThanOrEqual(16);
    expect(pagesRead()).toBeLessThan(16 + 8);
    await readMost(slow.response);
    expect(pagesRead()).toBeGreaterThanOrEqual(32);
    for (const { asked } of [slow, fast]) asked.destroy();
  });

  /** A raw stream of the shop's events. */
  async function openRaw() {
    const asked = request(`${gateway.url}/api/v1/instances/${shop.id}/events/stream`, {
      headers: { "x-api-key": shop.api_key, "last-event-id": "0" },
    }).end();
    const [response] = await once(asked, "response");
    return { asked, response: response as IncomingMessage };
  }

  /** Chunks may end within a frame. */
  async function readMost(response: IncomingMessage): Promise<void> {
    let ids = 0;
    response.on("data", (part: Buffer) => {
      ids += part.toString("latin1").split("\nevent: ").length - 1;
    });
    response.resume();
    await waitUntil(() => ids >= 795);
  }

  test("requires permission to read the instance", async () => {
    const other = await gateway.createInstance();
    await expect(other.client.streamEvents({ id: shop.id })).rejects.toMatchObject({ status: 403 });
    await expect(gateway.anonymous.streamEvents({ id: shop.id })).rejects.toMatchObject({ status: 401 });
    const { status } = await fetch(
      `${gateway.url}/api/v1/instances/${shop.id}/events/stream?token=${shop.api_key}`,
    );
    expect(status).toBe(400);
    await gateway.owner.streamEvents({ id: shop.id }).then(({ stream }) => stream.cancel());
  });

  test("ends soon after its key is revoked", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stream = await follow();
    vi.advanceTimersByTime(5_000);
    await say("Still there");
    await stream.has("Still there");
    await gateway.owner.regenerateApiKey({ id: shop.id });
    vi.advanceTimersByTime(5_000);
    await stream.ended;
  });

  test("can be open at most fifty times at once", async () => {
    const streams = await Promise.all(Array.from({ length: 50 }, () => follow()));
    await expect(shop.client.streamEvents({ id: shop.id })).rejects.toMatchObject({
      code: "RATE_LIMITED",
      status: 429,
    });
    await say("To all");
    await Promise.all(streams.map((stream) => waitUntil(() => stream.frames.length > 0)));
    await streams[0]?.close();
    await waitUntil(() =>
      follow().then(
        () => true,
        () => false,
      ),
    );
  });
});

describe("the event stream of an account", () => {
  test("sends the events of all its instances, including instances created later", async () => {
    const stream = await followAccount();
    const other = await gateway.connectInstance();
    await say("first shop");
    await say("second shop", other);
    await stream.has("first shop", "second shop");
    for (const id of [shop.id, other.id]) {
      const own = stream.frames.filter(({ data }) => data.instance_id === `inst_${id}`);
      expect(own.map(({ data }) => data.sequence)).toEqual(
        own.map(({ data }) => data.sequence).sort((a, b) => a - b),
      );
    }
    expect(stream.frames.every(({ id, data }) => id === data.event_id)).toBe(true);
    expect(
      stream.frames.filter(({ data }) => data.instance_id === `inst_${other.id}`)[0]?.data.sequence,
    ).toBe(1);
  });

  test("resumes after the Last-Event-ID without a gap, and duplicates have the same id", async () => {
    const other = await gateway.connectInstance();
    const before = await followAccount();
    await say("seen here");
    await say("seen there", other);
    await before.has("seen here", "seen there");
    await before.close();
    await say("missed here");
    await say("missed there", other);
    const after = await followAccount(before.frames.at(-1)?.id);
    await say("live");
    await after.has("missed here", "missed there", "live");
    const bodies = new Map<string, string>();
    for (const { id, data } of [...before.frames, ...after.frames]) {
      expect(bodies.get(id) ?? JSON.stringify(data)).toBe(JSON.stringify(data));
      bodies.set(id, JSON.stringify(data));
    }
  });

  test("contains no event of another account", async () => {
    const stranger = { name: "Stranger", email: "stranger@example.com", password: PASSWORD };
    await createAccount(gateway.database.db, { ...stranger, account_type: "client" });
    const { client } = await signIn(gateway.url, stranger);
    const theirs = await client.createInstance({ name: "Theirs", network: "sandbox" });
    const stream = await followAccount("evt_01JD0000000000000000000000", client);
    await say("private");
    await client.sandboxScan({ id: theirs.data.id });
    await client.sandboxReceive({ id: theirs.data.id, from: BIA, text: "own" });
    await stream.has("own");
    expect(new Set(stream.frames.map(({ data }) => data.account_id)).size).toBe(1);
    expect(stream.frames.map(textOf)).not.toContain("private");
  });

  test("has only the instances that an agent may use, and ends when these change", async () => {
    const other = await gateway.connectInstance();
    const login = { email: "one-shop@example.com", password: PASSWORD };
    const { data } = await gateway.owner.createUser({ name: "Agent", ...login, instance_ids: [shop.id] });
    const { client } = await signIn(gateway.url, login);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stream = await followAccount("evt_01JD0000000000000000000000", client);
    await say("private", other);
    await say("own");
    await stream.has("own");
    expect([...new Set(stream.frames.map(({ data }) => data.instance_id))]).toEqual([`inst_${shop.id}`]);
    await gateway.owner.updateUser({ id: data.id, instance_ids: [other.id] });
    vi.advanceTimersByTime(5_000);
    await stream.ended;
  });

  test("requires a signed-in user, and ends with the sign-out", async () => {
    await expect(shop.client.streamAccountEvents()).rejects.toMatchObject({ status: 401 });
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const leaver = { name: "Leaver", email: "leaver@example.com", password: PASSWORD };
    await createAccount(gateway.database.db, { ...leaver, account_type: "client" });
    const { client } = await signIn(gateway.url, leaver);
    const stream = await followAccount(undefined, client);
    await client.logout();
    vi.advanceTimersByTime(5_000);
    await stream.ended;
  });
});

test("event streams end when the gateway stops, and resume at the next start", async () => {
  const stream = await follow(0);
  await say("before the stop");
  await stream.has("before the stop");
  await gateway.gateway.stop();
  await stream.ended;
  await gateway.restart();
  const client = createClient({ baseUrl: gateway.url, apiKey: shop.api_key });
  await waitUntil(async () => (await client.getInstanceStatus({ id: shop.id })).data.connected);
  const again = await follow(stream.frames.at(-1)?.id, { ...shop, client });
  await client.sandboxReceive({ id: shop.id, from: BIA, text: "after the start" });
  await again.has("after the start");
  const sequences = [...stream.frames, ...again.frames].map(({ data }) => data.sequence);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
});

/** Recorded events of the instance, each with a text of the given length. */
async function makeEvents(count: number, length: number): Promise<void> {
  const { db } = gateway.database;
  await sql`
    with head as (select last from event_counter where instance_id = ${shop.id})
    insert into event (event_id, event, account_id, instance_id, sequence, chat, tags, body, created_at)
    select 'evt_made' || ${shop.id}::text || '_' || n, 'message.received', i.account_id, i.id, head.last + n, 'c', '{}',
      convert_to(json_build_object('sequence', head.last + n, 'data', json_build_object('text', repeat('x', ${length})))::text, 'UTF8'),
      now()
    from head, instance i, generate_series(1, ${count}::integer) n where i.id = ${shop.id}`.execute(db);
  await sql`update event_counter set last = last + ${count} where instance_id = ${shop.id}`.execute(db);
}
