import { afterAll, beforeAll, expect, test } from "vitest";
import { newPhone, waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import type { PairedInstance } from "./e2e-story.ts";
import { sendAll } from "./send-history.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

const PEOPLE = 4;
/** Texts of an instance for each kill and direction. */
const TEXTS = 12;

let on: WhatsAppStory;
let people: string[];
let instances: PairedInstance[];

beforeAll(async () => {
  on = await startWhatsAppStory({ env: { WAYGATE_UNKNOWN_OUTCOME_WAIT: "100ms" } });
  people = [];
  for (let n = 0; n < PEOPLE; n++)
    people.push((await on.network.control.addPerson({ phone: newPhone() })).phone);
  await on.start();
  await on.pair();
  instances = [on.instance, await on.pairAnother()];
  for (const instance of instances)
    await on.story
      .clientOf(instance)
      .updateDefaultWebhook({ id: instance.id, events: ["message.*", "message.delivered"] });
});

afterAll(() => on.end());

interface ReportedMessage {
  message_id: string;
  status: string;
  jid: string;
  text: string;
  events: string[] | null;
}

async function readReported({ id }: PairedInstance, prefix: string): Promise<ReportedMessage[]> {
  return on.story.rows<ReportedMessage>(
    `select m.message_id, m.status, m.jid, m.content ->> 'text' as text, reported.events
     from message m, lateral (
       select array_agg(e.event order by e.sequence) as events, min(e.sequence) as first from event e
       where e.instance_id = m.instance_id
         and convert_from(e.body, 'UTF8')::jsonb #>> '{data,message,message_id}' = m.message_id) reported
     where m.instance_id = $1 and m.content ->> 'text' like $2 order by reported.first`,
    id,
    `${prefix}%`,
  );
}

const personOf = (n: number) => people[n % PEOPLE] ?? "";

/** Contacts write concurrently, each in order. Adds the ids of the texts to `said`. */
async function receiveTexts({ phone }: PairedInstance, prefix: string, said: Set<string>): Promise<void> {
  const texts = Array.from({ length: TEXTS }, (_, n) => n);
  await Promise.all(
    people.map(async (person, nth) => {
      for (const n of texts.filter((one) => one % PEOPLE === nth))
        said.add(await on.network.control.sendMessage(person, phone, `${prefix}${n}`));
    }),
  );
}

/** Every text with a receipt on the network is in the log, or in the journal until it is reported. */
async function expectStoredBeforeReceipts(said: ReadonlySet<string>): Promise<void> {
  const { deliveries } = await on.network.control.ledger();
  const receipted = deliveries.filter(({ id, receipted_at }) => said.has(id) && receipted_at !== undefined);
  const [{ logged, unreported } = {}] = await on.story.rows<{ logged: number; unreported: number }>(
    `select (select count(distinct message_id) from message where message_id = any($1)) as logged,
      (select count(*) from journal_entry where not is_done) as unreported`,
    receipted.map(({ id }) => id),
  );
  expect(receipted.length - (logged ?? 0)).toBeLessThanOrEqual(unreported ?? 0);
}

const sendTexts = (instance: PairedInstance, prefix: string) =>
  sendAll(
    on.story,
    instance,
    Array.from({ length: TEXTS }, (_, n) => ({ text: `${prefix}${n}`, number: personOf(n) })),
  );

async function expectReportedOnce(instance: PairedInstance, name: string): Promise<void> {
  const sent = await readReported(instance, `${name}-out-`);
  expect(sent.map(({ status, events }) => ({ status, events }))).toEqual(
    Array.from({ length: TEXTS }, () => ({
      status: "delivered",
      events: ["message.sent", "message.delivered"],
    })),
  );
  const received = await readReported(instance, `${name}-in-`);
  expect(received.map(({ events }) => events)).toEqual(
    Array.from({ length: TEXTS }, () => ["message.received"]),
  );
  for (const jid of new Set(received.map((one) => one.jid))) {
    const numbers = received
      .filter((one) => one.jid === jid)
      .map(({ text }) => Number(text.replace(/.*-/, "")));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

async function expectNoGap(instance: PairedInstance): Promise<void> {
  const [{ last, count } = {}] = await on.story.rows<{ last: number; count: number }>(
    "select max(sequence) as last, count(*) as count from event where instance_id = $1",
    instance.id,
  );
  expect(count).toBe(last);
}

/** The network's ledger matches the gateway's reports. */
async function expectLedgerAgrees(instance: PairedInstance): Promise<void> {
  const { decryptions, deliveries } = await on.network.control.ledger();
  expect(decryptions.filter(({ error }) => error !== undefined)).toEqual([]);
  const own = deliveries.filter(({ phone }) => phone === instance.phone);
  expect(own.filter(({ retries, nacked }) => retries > 0 || nacked !== undefined)).toEqual([]);
  const seen = (await Promise.all(people.map((person) => on.network.control.seen(person)))).flat();
  const ids = seen.flatMap((one) => (one.type === "message" ? [one.id] : []));
  const sent = (await readReported(instance, "")).filter(({ status }) => status === "delivered");
  expect(ids).toEqual(expect.arrayContaining(sent.map(({ message_id }) => message_id)));
}

/** The first passes process what arrived while the gateway was dead. From the third on, texts go both ways. */
const POINTS = [
  "report:before-commit:3",
  "inbound:before-commit:1",
  "inbound:after-commit:1",
  "report:after-commit:3",
  "inbound:before-commit:3",
  "inbound:after-commit:3",
];

test("kills around the commits of reports lose and repeat no acknowledgement, no receipt and no message of two sessions", {
  timeout: 600_000,
}, async () => {
  const { story } = on;
  const said = new Set<string>();
  const texts: Promise<unknown>[] = [];
  await story.gateway.kill();
  for (const point of POINTS) {
    await story.dieAt(point, () => {
      for (const instance of instances)
        texts.push(sendTexts(instance, `${point}-out-`), receiveTexts(instance, `${point}-in-`, said));
    });
    await expectStoredBeforeReceipts(said);
  }
  await on.start();
  await Promise.all(texts);
  const areAllReported = async (instance: PairedInstance) => {
    const reported = await readReported(instance, "");
    const isDone = ({ status }: ReportedMessage) => status === "delivered" || status === "received";
    return reported.filter(isDone).length === 2 * TEXTS * POINTS.length;
  };
  await waitUntil(async () => (await Promise.all(instances.map(areAllReported))).every(Boolean), 240_000);
  await on.online();
  await story.drained();
  for (const instance of instances) {
    for (const point of POINTS) await expectReportedOnce(instance, point);
    await expectNoGap(instance);
    await expectLedgerAgrees(instance);
  }
  expect(await story.rows("select from journal_entry where not is_done")).toEqual([]);
  await expectStoredBeforeReceipts(said);
});
