import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { PASSWORD } from "../sign-in.ts";
import { findRowExcerpts, readFilesBelow } from "../stories/find-rows.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

/** Part of every text about a contact. */
const MARK = `mark${randomBytes(6).toString("hex")}`;
/** Prefix of every contact's number, which `newPhone` never uses. */
const PEOPLE = `55219${String((randomBytes(2).readUInt16BE() % 9_000) + 1_000)}`;
const ANA = `${PEOPLE}5011`;
const BEA = `${PEOPLE}5012`;
const SIGN_IN = "owner@example.com";

describe("a gateway that is killed while it anonymises everything", () => {
  let story: E2eStory;
  let instance: PairedInstance;
  let owner: Client;
  let key: Client;
  let campaign: number;
  let before: { totals: unknown; messages: number; events: number };
  let output = "";
  const deaths: string[] = [];

  beforeAll(async () => {
    story = await createE2eStory({ WAYGATE_LOG_LEVEL: "debug" });
    await story.start();
    instance = await story.pair();
    owner = await story.signIn();
    key = story.clientOf(instance);
    await talk();
    await sell();
    await integrate();
    await story.drained();
    // Receipts become events too.
    await waitUntil(async () => (await story.rows("select from sandbox.inbox limit 1")).length === 0);
    await story.drained();
    story.receiver.respond(200);
    before = await count();
    await die("8", () => owner.anonymizeData({ scope: "all" }).catch(() => {}));
    await die("12", async () => {});
    await story.start();
    owner = await story.signIn();
    key = story.clientOf(instance);
    await waitUntil(async () => (await owner.listDataRequests()).data[0]?.status === "completed", 60_000);
  }, 300_000);
  afterAll(() => story.end());

  /** Restarts with a fault at the nth batch and waits for the exit, which may precede listening. */
  async function die(nth: string, request: () => Promise<unknown>): Promise<void> {
    output += story.gateway.output();
    await story.gateway.kill();
    const point = `privacy:after-batch:${nth}`;
    await story.dieAt(point, async () => {
      owner = await story.signIn().catch(() => owner);
      await request();
    });
    deaths.push(point);
    output += story.gateway.output();
  }

  async function talk(): Promise<void> {
    const { id } = instance;
    story.receiver.respond((_, response) => void response.writeHead(200).end(`thanks, ${MARK}`));
    const from = { id, from: ANA, push_name: `Ana ${MARK}` };
    const { data: first } = await key.sandboxReceive({ ...from, text: `I am ${MARK}` });
    await key.sandboxReceive({ ...from, location: { latitude: 1, longitude: 2, name: MARK, address: MARK } });
    await key.sandboxReceive({ ...from, contact: { name: MARK, phone: BEA } });
    await key.sandboxReceive({
      ...from,
      media: {
        base64: Buffer.from(`file ${MARK}`).toString("base64"),
        type: "document",
        mime_type: "text/plain",
        file_name: `${MARK}.txt`,
        caption: MARK,
      },
    });
    await waitUntil(async () => (await key.listEvents({ id, event: "message.received" })).data.length === 4);
    const { data } = await key.sendText(
      {
        id,
        number: ANA,
        text: `Hello ${MARK}`,
        client_message_id: MARK,
        track_id: MARK,
        metadata: { who: MARK },
      },
      { idempotencyKey: MARK },
    );
    await key.sendReply({ id, number: ANA, text: MARK, message_id: first.message_id });
    await key.sendMedia({
      id,
      number: BEA,
      file: { bytes: Buffer.from(`sent ${MARK}`), file_name: `${MARK}.txt` },
      type: "document",
      caption: MARK,
    });
    await key.editMessage({ id, message_id: data.message_id ?? "", text: `Edited ${MARK}` });
    await key.sandboxContact({ id, from: BEA, name: MARK, push_name: MARK, about: MARK });
    await key.createGroup({ id, name: MARK, participants: [ANA, BEA] });
    await key.listGroups({ id });
    await key.checkContacts({ id, numbers: [ANA, BEA] });
    await waitUntil(async () => (await story.rows("select from media where status <> 'ready'")).length === 0);
  }

  async function sell(): Promise<void> {
    const { data: lead } = await owner.createLead({
      phone: ANA,
      name: MARK,
      email: `${MARK}@example.com`,
      tags: [MARK],
      custom_fields: { city: MARK },
    });
    await owner.addLeadNote({ id: lead.id, note: MARK });
    await owner.saveQuickReply({ shortcut: MARK, content: MARK, title: MARK });
    await owner.createCustomField({ name: MARK, type: "select", options: [MARK] });
    await owner.recordConsent({ purpose: "news", consent_type: "opt_in", granted: true, phone: ANA });
    await owner.updateAccount({ name: MARK });
    await owner.createUser({ name: MARK, email: "agent@example.com", password: PASSWORD });
    await owner.updateInstance({ id: instance.id, name: MARK, metadata: { who: MARK } });
    const { data } = await owner.createCampaign({
      name: MARK,
      instance_id: instance.id,
      message_template: `Dear {{name}}, ${MARK}`,
      min_delay_ms: 0,
      max_delay_ms: 0,
    });
    campaign = data.id;
    await owner.addRecipients({
      id: campaign,
      recipients: [ANA, BEA].map((phone) => ({ phone, variables: { name: MARK } })),
    });
    await owner.startCampaign({ id: campaign });
    await waitUntil(async () => (await owner.getCampaign({ id: campaign })).data.status === "completed");
    await waitUntil(async () => (await owner.getCampaign({ id: campaign })).data.totals.read === 2);
  }

  /** The state of a chatbot after a conversation with her. */
  async function integrate(): Promise<void> {
    const jid = `${ANA}@s.whatsapp.net`;
    const config = { base_url: "http://127.0.0.1:9", public_id: "bot", ignore_jids: [jid] };
    await owner.saveIntegration({ id: instance.id, provider: "typebot", enabled: false, config });
    for (const insert of [
      "integration_link (account_id, integration_id, chat, origin, error) select account_id, id, $1, 'whatsapp', $2",
      "integration_chat (account_id, integration_id, chat, state) select account_id, id, $1, to_jsonb($2::text)",
      "integration_inbound (account_id, integration_id, body) select account_id, id, jsonb_build_object('of', $1::text, 'text', $2::text)",
    ])
      await story.rows(`insert into ${insert} from integration`, jid, MARK);
    await story.rows("update integration set last_error = $1", MARK);
  }

  async function count() {
    const { totals } = (await owner.getCampaign({ id: campaign })).data;
    const [counted] = await story.rows<{ messages: number; events: number }>(
      "select (select count(*) from message)::int as messages, (select count(*) from event where event like 'message.%')::int as events",
    );
    return { totals, messages: counted?.messages ?? 0, events: counted?.events ?? 0 };
  }

  test("was killed in each round", () => {
    expect(deaths).toEqual(["privacy:after-batch:8", "privacy:after-batch:12"]);
  });

  test("leaves no trace of a contact in any table", async () => {
    expect(await findRowExcerpts(story.rows, [MARK, PEOPLE])).toEqual([]);
  });

  test("leaves no file of a contact", async () => {
    const folder = join(story.settings.WAYGATE_DATA_DIR ?? "", "media");
    const texts = await readFilesBelow(folder);
    expect(texts.filter((text) => text.includes(MARK))).toEqual([]);
    expect(await story.rows("select from blob")).toEqual([]);
  });

  test("has written no contact to its log", () => {
    const all = output + story.gateway.output();
    expect(all.length).toBeGreaterThan(1_000);
    expect([all.includes(MARK), all.includes(PEOPLE)]).toEqual([false, false]);
  });

  test("keeps rows, references and totals", async () => {
    expect(await count()).toEqual(before);
    const torn = await story.rows(`
      select m.id from message m left join conversation c on c.id = m.conversation_id where c.id is null
      union all select c.id from conversation c left join contact p on p.id = c.contact_id
        where c.contact_id is not null and p.id is null
      union all select r.id from campaign_recipient r left join message m on m.id = r.message where m.id is null`);
    expect(torn).toEqual([]);
    const [joined] = await story.rows<{ people: number }>(`
      select count(*)::int as people from campaign_recipient r join lead l on l.phone = r.phone
        join contact p on p.phone = r.phone`);
    expect(joined?.people).toBe(1);
  });

  test("continues to work: sign-in, key, session, webhook and a replay of earlier events", async () => {
    expect((await owner.me()).data.user.email).toBe(SIGN_IN);
    const { id } = instance;
    await waitUntil(() => story.isConnected(instance));
    const old = (await key.listEvents({ id, event: "message.received" })).data[0];
    await key.retryEvent({ id, eventId: old?.event_id ?? "" });
    const isReplay = ({ body, at }: { body: { event_id: string; data: unknown }; at: number }) =>
      body.event_id === old?.event_id && "anonymized" in (body.data as object) && at > 0;
    const [replay] = await story.receiver.waitFor(isReplay);
    expect(replay?.body).toMatchObject({ event: "message.received", sequence: old?.sequence });
    expect(story.receiver.forged).toEqual([]);
    const { data } = await key.sendText({ id, number: ANA, text: "Hello again" });
    await story.receiver.waitFor(({ body }) => body.data?.message?.message_id === data.message_id);
  });
});
