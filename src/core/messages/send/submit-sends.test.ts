import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import { newMessage } from "../../../../test/stories/new-message.ts";
import type { Job } from "../../../engine/engine.ts";
import type { Session } from "../../../network/driver.ts";
import { newMessageId, phoneJid } from "../../../network/jid.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { createLog } from "../../../platform/log/log.ts";
import type { StoredContent } from "../log/message-view.ts";
import { type InsertedMessage, insertMessages, type NewMessage } from "./insert-messages.ts";
import { SendCircuitBreakers } from "./run/send-circuit-breakers.ts";
import type { SendContext, SendRunnerDeps } from "./run/send-context.ts";
import { SEND_HOLDS } from "./run/send-holds.ts";
import { type SendSlot, SendThrottle } from "./run/send-throttle.ts";
import { toSendRow } from "./submit-accepted.ts";
import { loadAndSubmitSends, type SendRow, submitSends } from "./submit-sends.ts";

const NODE = "node";
const LANE = { id: 1, kind: "session", key: "1", epoch: 1 };
const OWNER = { node: NODE, lane: LANE };
const OTHER_JID = phoneJid("5511900000008");
const HOLD_MS = 3_600_000;
const ACCOUNTS = { active: 101, paused: 102 };

/** Every value that makes one of the two paths hold a send. The first value of each does not. */
const VALUES = {
  state: ["waiting", "submitted", "decided"],
  mode: ["async", "sync", "sync too late"],
  origin: ["api", "campaign"],
  kind: ["text", "media"],
  delay: [false, true],
  account: ["active", "paused"],
  lock: [false, true],
  breaker: ["closed", "open", "open and due"],
  throttle: ["none", "pause", "rate"],
  quiet: [false, true],
  connected: [true, false],
} as const;

type Values = typeof VALUES;
type Case = { [Name in keyof Values]: Values[Name][number] } & { id: number };

/** Columns that these values set, and those that only affect a later attempt. */
const VARIED = ["breaker_open_ms", "content", "delay_ms", "is_overdue", "is_restricted", "locked_until"];
const VARIED_TOO = ["mode", "origin", "outcome_at", "pace_max", "pace_min", "per_minute", "submitted_at"];
const OF_LATER_ATTEMPTS = [
  "quiet_hours",
  "now_ms",
  "is_reconnected",
  "is_stale",
  "on_unknown",
  "unknown_outcome_ms",
];
const NAMES = ["account_id", "conversation_id", "id", "instance_id", "jid", "message_id", "network"];

let store: TestDatabase;
const cases = combine();

beforeAll(async () => {
  store = await createTestDatabase();
  await insertAccounts();
  await insertInstances();
  await insertCases();
});
afterAll(() => store.drop());

/** Every combination of up to three reasons to hold a send. */
function combine(): Case[] {
  let found: { one: Record<string, unknown>; reasons: number }[] = [{ one: {}, reasons: 0 }];
  for (const [name, values] of Object.entries(VALUES))
    found = found.flatMap(({ one, reasons }) =>
      values.map((value, nth) => ({ one: { ...one, [name]: value }, reasons: reasons + Math.min(nth, 1) })),
    );
  const chosen = found.filter(({ reasons }) => reasons <= 3);
  return chosen.map(({ one }, index) => ({ ...one, id: index + 1 }) as Case);
}

async function run(text: string, ...values: unknown[]): Promise<void> {
  await store.database.pool.query(text, values);
}

async function insertAccounts(): Promise<void> {
  await run("insert into node (id, boot, roles) values ($1, 1, '{sessions}')", NODE);
  await run(
    "insert into lane (id, kind, key, owner, epoch) overriding system value values (1, 'session', '1', $1, 1)",
    NODE,
  );
  await run(`with p as (insert into plan (name, features) values ('p', '{}') returning id)
    insert into account (id, name, account_type, plan_id, settings, status) overriding system value
    select a.id, a.status, 'client', p.id, '{}', a.status from p, (values (101, 'active'), (102, 'paused')) a (id, status)`);
}

const clockIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
const AROUND_NOW = { from: clockIn(-2), to: clockIn(2), time_zone: "UTC" };

/** Each send has an instance of its own. */
async function insertInstances(): Promise<void> {
  const rows = cases.map(({ id, account, lock, breaker, throttle, quiet }) => ({
    id,
    account_id: ACCOUNTS[account],
    settings: {
      ...(throttle === "pause" && { send_delay_min_ms: 1000, send_delay_max_ms: 2000 }),
      ...(throttle === "rate" && { messages_per_minute: 5 }),
      ...(quiet && { quiet_hours: AROUND_NOW }),
    },
    locked: lock ? "1 hour" : null,
    holds: breaker === "closed" ? 0 : 1,
    held: breaker === "closed" ? null : breaker === "open" ? "1 minute" : "-1 minute",
  }));
  await run(
    `insert into instance (id, account_id, lane, global_lane, name, network, status, webhook_secret, metadata, settings,
       new_chats_locked_until, send_pauses, sends_paused_until) overriding system value
     select id, account_id, 1, 1, 'i', 'whatsapp', 'connected', '', '{}', settings, now() + locked::interval, holds, now() + held::interval
     from jsonb_to_recordset($1) as x (id bigint, account_id bigint, settings jsonb, locked text, holds int, held text)`,
    JSON.stringify(rows),
  );
}

function contentOf(kind: Case["kind"]): StoredContent {
  if (kind === "text") return { kind, text: "Hi" };
  return { kind, media_type: "image", mime_type: "image/png", size: 1 };
}

async function insertCases(): Promise<void> {
  const rows = cases.map(({ id, account, state, mode, origin, kind, delay }) => ({
    id,
    account_id: ACCOUNTS[account],
    origin,
    mode: mode === "async" ? "async" : "sync",
    content: contentOf(kind),
    delay_ms: delay ? 1000 : null,
    due: mode === "sync too late" ? "-1 second" : "1 hour",
    status: state === "decided" ? "failed" : "pending",
    submitted: state === "waiting" ? null : "-1 second",
    decided: state === "decided" ? "0 seconds" : null,
  }));
  await run(
    `insert into message (id, account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode, jid,
       type, content, status, delay_ms, deadline, submitted_at, outcome_at) overriding system value
     select id, account_id, id, id, 'M' || id, 'outbound', true, origin, mode, '5511900000007@s.whatsapp.net',
       'text', content, status, delay_ms, now() + due::interval, now() + submitted::interval, now() + decided::interval
     from jsonb_to_recordset($1) as x (id bigint, account_id bigint, origin text, mode text, content jsonb, delay_ms int,
       due text, status text, submitted text, decided text)`,
    JSON.stringify(rows),
  );
}

async function rollBack<Result>(work: (trx: Trx) => Promise<Result>): Promise<Result> {
  const trx = await store.database.db.startTransaction().execute();
  try {
    return await work(trx);
  } finally {
    await trx.rollback().execute();
  }
}

function load(trx: Trx, maySubmit: (one: Case) => boolean): Promise<(SendRow | undefined)[]> {
  const claimed = cases.map((one) => ({ id: one.id, lane: LANE, may_submit: maySubmit(one) }));
  return loadAndSubmitSends(trx, NODE, HOLD_MS, claimed);
}

/** Ids of sends that the loading statement submits. */
async function submittedAtOnce(): Promise<Set<number>> {
  const rows = await rollBack((trx) => load(trx, ({ connected }) => connected));
  return new Set(rows.flatMap((row) => (row?.has_begun ? [row.id] : [])));
}

/** Ids of sends without a hold, which are then submitted. */
async function submittedAfterHolds(): Promise<Set<number>> {
  return rollBack(async (trx) => {
    const rows = await load(trx, () => false);
    const free: Case[] = [];
    for (const [index, one] of cases.entries()) if (await isFree(trx, one, rows[index])) free.push(one);
    const results = await submitSends(
      trx,
      NODE,
      HOLD_MS,
      free.map(({ id }) => ({ id, lane: LANE })),
    );
    return new Set(free.flatMap(({ id }, index) => (results[index] === "submitted" ? [id] : [])));
  });
}

async function isFree(trx: Trx, { id, connected }: Case, send: SendRow | undefined): Promise<boolean> {
  if (!send || send.outcome_at !== null) return false;
  const context = await createContext(trx, id, send, connected);
  for (const hold of SEND_HOLDS) if ((await hold(context)) !== "go_on") return false;
  return true;
}

/** Another send of the instance holds the throttle and is the trial of an open breaker. */
async function createContext(trx: Trx, id: number, send: SendRow, connected: boolean): Promise<SendContext> {
  const engine = {
    node: { id: NODE },
    pauseLane() {},
    markLaneLost() {},
  } as unknown as SendRunnerDeps["engine"];
  const breakers = new SendCircuitBreakers({ db: trx, engine, log: createLog("silent") });
  const throttle = new SendThrottle(engine);
  const slot = throttle.tryAcquire(LANE.id) as SendSlot;
  const ahead = throttle.tryAcquire(LANE.id) as SendSlot;
  await ahead.wait({ min: send.pace_min, max: send.pace_max, perMinute: send.per_minute }, () => {});
  breakers.allows({ ...jobOf(id), id: -1 }, send.breaker_open_ms);
  const deps = {
    db: trx,
    engine,
    breakers,
    throttle,
    outcomes: { record: async () => {} },
    withdraw: async () => {},
    mostUnconfirmed: {},
    unknownOutcomeWaitMs: 60_000,
    sendHoldMs: HOLD_MS,
  } as unknown as SendRunnerDeps;
  return { deps, job: jobOf(id), send, slot, session: connected ? ({} as Session) : undefined };
}

function jobOf(id: number): Job {
  const ref = { do: "send", message: id };
  return {
    id,
    lane: LANE,
    prio: 1,
    pos: 0,
    grp: `m${id}`,
    run_at: new Date(),
    attempts: 0,
    max_attempts: null,
    ref,
  };
}

/** The send of a case as its request creates it, in its own chat. */
function sendOf({ id, account, mode, origin, kind, delay, connected }: Case): NewMessage {
  return newMessage({
    account_id: ACCOUNTS[account],
    instance_id: id,
    lane: LANE.id,
    conversation_id: id,
    jid: phoneJid(`5511${900_000_000 + id}`),
    origin,
    mode: mode === "async" ? "async" : "sync",
    type: kind,
    content: contentOf(kind),
    delay_ms: delay ? 1000 : null,
    hold_ms: mode === "sync too late" ? -1000 : HOLD_MS,
    ...(connected && { owner: OWNER }),
  });
}

/** Their ids are higher than those of the cases. */
async function insert(trx: Trx, messages: NewMessage[]): Promise<(InsertedMessage | undefined)[]> {
  await sql`select setval('message_id_seq', greatest(100000, nextval('message_id_seq')))`.execute(trx);
  return (await insertMessages(trx, messages)) as (InsertedMessage | undefined)[];
}

describe("the statement that accepts a send", () => {
  const waiting = cases.filter(({ state }) => state === "waiting");
  const [simple] = waiting as [Case];

  test("submits it exactly if no hold would stop it, and it has no file", async () => {
    const [inserted, afterHolds] = [
      await rollBack((trx) => insert(trx, waiting.map(sendOf))),
      await submittedAfterHolds(),
    ];
    const expected = waiting.filter(({ id, kind }) => afterHolds.has(id) && kind !== "media");
    expect(expected.length).toBeGreaterThan(1);
    expect(waiting.filter((_, index) => inserted[index]?.submitted)).toEqual(expected);
  });

  test("returns it as the statement that loads a send would", async () => {
    const message = sendOf(simple);
    await rollBack(async (trx) => {
      const [begun] = await insert(trx, [message]);
      const [queued] = await insert(trx, [
        { ...message, message_id: newMessageId(), jid: OTHER_JID, owner: undefined },
      ]);
      const [loaded] = await loadAndSubmitSends(trx, NODE, HOLD_MS, [
        { id: queued?.id ?? 0, lane: LANE, may_submit: true },
      ]);
      const id = begun?.id ?? 0;
      const row = begun?.submitted && toSendRow({ ...message, id }, begun.submitted);
      expect({ ...row, id: 0, message_id: "", jid: "" }).toEqual({
        ...loaded,
        id: 0,
        message_id: "",
        jid: "",
      });
      const stored = trx
        .selectFrom("message")
        .select(["submitted_at", "deadline"])
        .where("id", "in", [id, queued?.id ?? 0]);
      const [one, other] = await stored.orderBy("id").execute();
      expect(one?.submitted_at).toBeInstanceOf(Date);
      expect(one).toEqual(other);
    });
  });

  test.each([
    ["is no longer connected", sql`update instance set status = 'disconnected' where id = ${simple.id}`],
    ["is being removed", sql`update instance set removed_at = now() where id = ${simple.id}`],
    [
      "may not begin chats",
      sql`update instance set new_chats_locked_until = now() + interval '1 hour' where id = ${simple.id}`,
    ],
    ["has another message limit", sql`update plan set max_messages = 7`],
    ["belongs to another node", sql`update lane set owner = 'other'`],
    ["was claimed again", sql`update lane set epoch = 2`],
  ])("stores nothing if the instance %s", async (_, change) => {
    await rollBack(async (trx) => {
      await change.execute(trx);
      const count = () =>
        trx
          .selectFrom("message")
          .select(({ fn }) => fn.countAll().as("count"))
          .executeTakeFirst();
      const before = await count();
      expect(await insert(trx, [sendOf(simple)])).toEqual([undefined]);
      expect([await count(), await trx.selectFrom("job").select("id").execute()]).toEqual([before, []]);
    });
  });

  test.each(["sync", "async"] as const)("only accepts it while a %s send of its chat waits", async (mode) => {
    await rollBack(async (trx) => {
      const message = sendOf(simple);
      await insert(trx, [{ ...message, mode, owner: undefined }]);
      const later = { ...message, message_id: newMessageId() };
      const [behind] = await insert(trx, [later]);
      expect(behind).toEqual({ id: expect.any(Number) });
    });
  });

  test("only accepts it behind another send of its chat in the same batch", async () => {
    await rollBack(async (trx) => {
      const message = sendOf(simple);
      const others = [1, 2].map(() => ({ ...message, message_id: newMessageId() }));
      const inserted = await insert(trx, [{ ...message, owner: undefined }, ...others]);
      expect(inserted.map((one) => [one?.job !== undefined, one?.submitted !== undefined])).toEqual([
        [true, false],
        [false, false],
        [false, false],
      ]);
    });
  });
});

describe("the statement that loads a send", () => {
  test("submits it exactly if no hold would stop it, and it has no file", async () => {
    const [atOnce, afterHolds] = [await submittedAtOnce(), await submittedAfterHolds()];
    const expected = cases.filter(({ id, kind }) => afterHolds.has(id) && kind !== "media");
    expect(expected.length).toBeGreaterThan(1);
    expect(cases.filter(({ id }) => atOnce.has(id))).toEqual(expected);
  });

  test("reads no column that these combinations leave out", async () => {
    const [row] = await rollBack((trx) => load(trx, () => false));
    const known = [...VARIED, ...VARIED_TOO, ...OF_LATER_ATTEMPTS, ...NAMES, "has_begun"];
    expect(Object.keys(row ?? {}).toSorted()).toEqual(known.toSorted());
  });
});
