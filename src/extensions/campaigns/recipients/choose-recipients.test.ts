import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import { wholeAccount } from "../../../platform/reach.ts";
import { createSecretBox } from "../../../platform/secrets/secret-box.ts";
import { createSuppressionList, type SuppressionList } from "../../consent/consent.ts";
import { type CampaignRow, getCampaign } from "../campaign-row.ts";
import { readCampaignInstanceState } from "../decide-campaign.ts";
import { chooseRecipients, findWaitingRecipients } from "./choose-recipients.ts";

const BIA = "5511999990001";
const CAIO = "5511999990002";
const DORA = "5511999990003";

let store: TestDatabase;
let suppression: SuppressionList;
let account: number;
let instance: number;

beforeAll(async () => {
  store = await createTestDatabase();
  const box = createSecretBox("kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4");
  suppression = await createSuppressionList(store.database.db, box);
});
afterAll(() => store.drop());

beforeEach(async () => {
  const { rows } = await store.database.pool.query(`
    with p as (insert into plan (name, features, max_messages) values (gen_random_uuid()::text, '{}', 9) returning id),
      a as (insert into account (name, account_type, plan_id, settings) select 'Shop', 'client', id, '{}' from p returning id)
    insert into instance (account_id, lane, global_lane, name, network, webhook_secret)
    select id, 1, 2, 'Sales', 'sandbox', '' from a returning id, account_id`);
  instance = Number(rows[0].id);
  account = Number(rows[0].account_id);
});

/** A campaign to these phones, optionally with variables. */
async function addCampaign(
  recipients: readonly (string | [string, Record<string, string>])[],
  changed: Record<string, unknown> = {},
): Promise<CampaignRow> {
  const { pool, db } = store.database;
  const { rows } = await pool.query(
    `insert into campaign (account_id, instance_id, name, message_template, min_delay_ms, max_delay_ms, media, consent_purpose)
     values ($1, $2, 'News', $3, 0, 0, $4, $5) returning id`,
    [account, instance, changed.template ?? "Hi {{name}}", changed.media ?? null, changed.purpose ?? null],
  );
  const id = Number(rows[0].id);
  for (const one of recipients) {
    const [phone, variables] = typeof one === "string" ? [one, {}] : one;
    await pool.query(
      "insert into campaign_recipient (account_id, campaign_id, phone, variables) values ($1, $2, $3, $4)",
      [account, id, phone, variables],
    );
  }
  return getCampaign(db, wholeAccount(account), id);
}

const choose = (campaign: CampaignRow, count = 10, onlyKnownChats = false) =>
  chooseRecipients({ db: store.database.db, suppression }, campaign, { count, onlyKnownChats });

/** Phones of ready recipients, and reasons of skipped ones. */
async function choiceOf(campaign: CampaignRow, count?: number) {
  const { ready, skipped } = await choose(campaign, count);
  return { ready: ready.map(({ phone }) => phone), skipped: skipped.map(({ reason }) => reason) };
}

const agree = (phone: string, purpose: string, granted = true) =>
  store.database.pool.query(
    "insert into consent (account_id, phone, purpose, consent_type, granted) values ($1, $2, $3, 'x', $4)",
    [account, phone, purpose, granted],
  );

async function addChat(phone: string, direction: string, status: string, of = instance): Promise<void> {
  await store.database.pool.query(
    `with c as (
       insert into conversation (account_id, instance_id, type, jid, phone)
       values ($1, $2, 'contact', $3 || '@s.whatsapp.net', $3) returning id
     )
     insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
       content, status)
     select $1, $2, id, $3, $4, false, 'api', $3 || '@s.whatsapp.net', 'text', '{}', $5 from c`,
    [account, of, phone, direction, status],
  );
}

describe("the next recipients of a campaign", () => {
  test("are the first waiting ones in their order, each with their own text", async () => {
    const campaign = await addCampaign([[DORA, { name: "Dora" }], BIA, CAIO]);
    const { ready, skipped } = await choose(campaign, 2);
    expect(ready).toEqual([
      { id: expect.any(Number), phone: DORA, text: "Hi Dora" },
      { id: expect.any(Number), phone: BIA, text: "Hi " },
    ]);
    expect(skipped).toEqual([]);
  });

  test("leave out people without consent to its purpose", async () => {
    await agree(BIA, "news");
    await agree(CAIO, "other");
    await agree(DORA, "news");
    await agree(DORA, "news", false);
    const campaign = await addCampaign([BIA, CAIO, DORA], { purpose: "news" });
    expect(await choiceOf(campaign)).toEqual({ ready: [BIA], skipped: ["no_consent", "no_consent"] });
  });

  test("leave out those whose message would be empty, unless there is a file", async () => {
    const template = " {{name}}\n";
    const recipients: [string, Record<string, string>][] = [
      [BIA, {}],
      [CAIO, { name: "Caio" }],
    ];
    expect(await choiceOf(await addCampaign(recipients, { template }))).toEqual({
      ready: [CAIO],
      skipped: ["empty_message"],
    });
    const media = { kind: "media", media_type: "image" };
    expect(await choiceOf(await addCampaign(recipients, { template, media }))).toMatchObject({ skipped: [] });
  });

  test("leave out those whose message would be longer than 65,536 characters", async () => {
    const template = "{{a}}".repeat(64);
    const campaign = await addCampaign(
      [
        [BIA, { a: "x".repeat(1_024) }],
        [CAIO, { a: "x".repeat(1_025) }],
      ],
      { template },
    );
    expect(await choiceOf(campaign)).toEqual({ ready: [BIA], skipped: ["message_too_long"] });
  });

  test("end with the last requested one, so that no later one is skipped yet", async () => {
    await suppression.add(store.database.db, [{ account_id: account, phone: CAIO }], "opt_out");
    expect(await choiceOf(await addCampaign([BIA, CAIO]), 1)).toEqual({ ready: [BIA], skipped: [] });
  });

  test("are read a hundred at once, so that many skipped ones do not delay the campaign", async () => {
    const phones = Array.from({ length: 101 }, (_, n) => String(5511999990100 + n));
    const gone = phones.map((phone) => ({ account_id: account, phone }));
    await suppression.add(store.database.db, gone, "opt_out");
    const { skipped } = await choiceOf(await addCampaign(phones), 1);
    expect(skipped).toHaveLength(100);
  });

  test("can be more than a hundred", async () => {
    const phones = Array.from({ length: 120 }, (_, n) => String(5511999990100 + n));
    expect((await choiceOf(await addCampaign(phones), 110)).ready).toHaveLength(110);
  });

  test("are only those of known chats if new chats are blocked", async () => {
    const [received, delivered, read, played] = ["1", "2", "3", "4"].map((end) => `551199999001${end}`);
    const known = [received, delivered, read, played] as string[];
    const [sent, failed, elsewhere] = ["5", "6", "7"].map((end) => `551199999001${end}`) as [
      string,
      string,
      string,
    ];
    await addChat(known[0] ?? "", "inbound", "received");
    await addChat(known[1] ?? "", "outbound", "delivered");
    await addChat(known[2] ?? "", "outbound", "read");
    await addChat(known[3] ?? "", "outbound", "played");
    await addChat(sent, "outbound", "sent");
    await addChat(failed, "outbound", "failed");
    await addChat(elsewhere, "inbound", "received", instance + 1_000);
    const campaign = await addCampaign([BIA, ...known, sent, failed, elsewhere]);
    const { ready } = await choose(campaign, 10, true);
    expect(ready.map(({ phone }) => phone)).toEqual(known);
    expect((await choose(campaign)).ready).toHaveLength(8);
  });

  test("have the data of their lead and of their contact, in either format of the number", async () => {
    const { pool } = store.database;
    await pool.query(
      "insert into lead (account_id, phone, name, email, custom_fields) values ($1, '551199990001', 'Bia', 'b@x.y', '{\"plan\": \"gold\"}')",
      [account],
    );
    await pool.query(
      "insert into contact (account_id, instance_id, jid, push_name) values ($1, $2, $3, 'Caio')",
      [account, instance, `${CAIO}@s.whatsapp.net`],
    );
    const campaign = await addCampaign([BIA, CAIO], { template: "{{name}} {{email}} {{plan}}" });
    expect((await choose(campaign)).ready.map(({ text }) => text)).toEqual(["Bia b@x.y gold", "Caio  "]);
  });
});

describe("the waiting recipients", () => {
  test("do not include those that are decided, nor those of another campaign", async () => {
    await addCampaign([DORA]);
    const campaign = await addCampaign([BIA, CAIO]);
    await store.database.pool.query(
      "update campaign_recipient set status = 'skipped' where campaign_id = $1 and phone = $2",
      [campaign.id, BIA],
    );
    const waiting = await findWaitingRecipients(store.database.db, campaign, { limit: 10 });
    expect(waiting.map(({ phone }) => phone)).toEqual([CAIO]);
  });

  test("can be found by their phone, in either format of the number", async () => {
    const campaign = await addCampaign([CAIO, BIA]);
    const find = (phone: string) => findWaitingRecipients(store.database.db, campaign, { limit: 10, phone });
    for (const phone of [BIA, "551199990001"])
      expect((await find(phone)).map((one) => one.phone)).toEqual([BIA]);
  });

  test("are found up to a limit", async () => {
    const campaign = await addCampaign([CAIO, BIA]);
    const waiting = await findWaitingRecipients(store.database.db, campaign, { limit: 1 });
    expect(waiting.map(({ phone }) => phone)).toEqual([CAIO]);
  });
});

describe("the state of a sending instance", () => {
  test("has its account's state and quota", async () => {
    expect(await readCampaignInstanceState(store.database.db, instance)).toEqual({
      id: instance,
      account_id: account,
      lane: 1,
      status: "created",
      new_chats_locked_until: null,
      max_messages: 9,
      account_state: "active",
      time_zone: null,
    });
  });

  test("does not exist after its removal", async () => {
    await store.database.pool.query("update instance set removed_at = now() where id = $1", [instance]);
    expect(await readCampaignInstanceState(store.database.db, instance)).toBeUndefined();
    expect(await readCampaignInstanceState(store.database.db, instance + 1_000)).toBeUndefined();
  });
});
