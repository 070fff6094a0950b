import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { startReceiver } from "../../../test/servers/receiver.ts";
import { findRowExcerpts, findRowsWith } from "../../../test/stories/find-rows.ts";
import type { Client } from "../../client/client.ts";
import { repeatErasure } from "./request-erasure.ts";

let gateway: TestGateway;
let owner: Client;
let shop: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ owner } = gateway);
  shop = await gateway.connectInstance();
});
afterAll(() => gateway.stop());

const rows = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  (await gateway.database.pool.query(text, values)).rows;

/** A person with a unique word in all texts. */
function person(name: string, phone = newPhone()) {
  return { phone, jid: `${phone}@s.whatsapp.net`, mark: `${name}${phone}x` };
}
type Person = ReturnType<typeof person>;

async function receive({ phone, mark }: Person, message: object): Promise<string> {
  const { id, client } = shop;
  const { data } = await client.sandboxReceive({ id, from: phone, push_name: mark, ...message });
  await waitUntil(() => client.getMessage({ id, messageId: data.message_id }).catch(() => undefined));
  return data.message_id;
}

/** A chat in both directions with a file, and CRM data. */
async function meet(one: Person): Promise<number> {
  const { id, client } = shop;
  const { phone, mark } = one;
  const message_id = await receive(one, { text: `I am ${mark}` });
  const base64 = Buffer.from(`file ${mark}`).toString("base64");
  await receive(one, { media: { base64, type: "document", mime_type: "text/plain", file_name: mark } });
  await client.sendText(
    { id, number: phone, text: mark, client_message_id: mark, track_id: mark, metadata: { who: mark } },
    { idempotencyKey: mark },
  );
  await client.sendReply({ id, number: phone, message_id, text: mark });
  await client.sandboxContact({ id, from: phone, name: mark, push_name: mark, about: mark });
  await client.checkContacts({ id, numbers: [phone] });
  const { data: lead } = await owner.createLead({
    phone,
    name: mark,
    email: `${mark}@example.com`,
    tags: [mark],
    custom_fields: { city: mark },
  });
  await owner.addLeadNote({ id: lead.id, note: mark });
  await owner.recordConsent({ purpose: "news", consent_type: "opt_in", granted: true, phone });
  return lead.id;
}

async function drained(): Promise<void> {
  for (const left of ["sandbox.inbox", "media where status = 'pending'", "job where run_at < now()"])
    await waitUntil(async () => (await rows(`select from ${left} limit 1`)).length === 0);
}

/** Waits until all erasures are complete. Searching all tables repeatedly would delay them. */
async function completed(): Promise<void> {
  const open = "select from data_request where status <> 'completed' limit 1";
  await waitUntil(async () => (await rows(open)).length === 0);
}

type Whom = Omit<Parameters<Client["anonymizeData"]>[0], "scope">;

async function erase(whom: Whom) {
  const { requestId, kept } = (await owner.anonymizeData({ scope: "person", ...whom })).data;
  const find = async () => (await owner.listDataRequests()).data.find(({ id }) => id === requestId);
  await waitUntil(async () => (await find())?.status === "completed");
  return { kept, ...(await find()) };
}

const refusal = (whom: object) =>
  owner.anonymizeData({ scope: "person", ...whom }).then(
    () => "none",
    (error: Error) => error.message,
  );

describe("the erasure of one person", () => {
  test("leaves no trace in any table, and every row of another person as it was", async () => {
    const [ana, bea] = [person("ana"), person("bea")];
    const lead_id = await meet(ana);
    await meet(bea);
    await drained();
    const before = await findRowsWith(rows, [bea.mark, bea.phone]);
    expect(before.length).toBeGreaterThan(20);
    const { affected, kept } = await erase({ lead_id });
    expect(affected).toMatchObject({
      message: 4,
      contact: 1,
      conversation: 1,
      lead: 1,
      lead_note: 1,
      consent: 1,
    });
    expect(kept?.length).toBeGreaterThan(3);
    expect(await findRowExcerpts(rows, [ana.mark, ana.phone])).toEqual([]);
    expect(await findRowsWith(rows, [bea.mark, bea.phone])).toEqual(before);
  });

  test("reads a number in the country of the account, and leaves both people whom it can mean", async () => {
    await owner.updateAccount({ settings: { default_country: "BR" } });
    const { data: peruvian } = await owner.createLead({ phone: "+51987650099" });
    const { data: lead } = await owner.createLead({ phone: "+5521987650099" });
    expect(await refusal({ number: "51987650099" })).toContain("can be +51987650099, or +5551987650099");
    expect((await erase({ phone: "21 98765-0099" })).affected).toMatchObject({ lead: 1 });
    expect((await owner.getLeadDetails({ id: lead.id })).data.phone).not.toBe("5521987650099");
    expect((await owner.getLeadDetails({ id: peruvian.id })).data.phone).toBe("51987650099");
    await owner.updateAccount({ settings: { default_country: null } });
  });

  test("in a group takes the person's messages, reactions, receipts and quotes, and leaves those of others", async () => {
    const { id, client } = shop;
    const [ana, bea] = [person("ana"), person("bea")];
    const { jid } = (await client.createGroup({ id, name: "Team", participants: [ana.phone, bea.phone] }))
      .data;
    const said = await receive(ana, { group_jid: jid, text: `I am ${ana.mark}` });
    const quoting = await receive(bea, { group_jid: jid, text: `I am ${bea.mark}`, reply_to: said });
    const own = (await client.sendText({ id, number: jid, text: "Welcome" })).data.message_id ?? "";
    for (const { phone, mark } of [ana, bea])
      await client.sandboxReact({
        id,
        from: phone,
        push_name: mark,
        group_jid: jid,
        message_id: own,
        reaction: "+",
      });
    const read = async () => (await client.getMessage({ id, messageId: own })).data;
    await waitUntil(async () => (await read()).reactions.length === 2);
    await client.listGroups({ id });
    await drained();
    await erase({ jid: ana.jid });
    expect(await findRowExcerpts(rows, [ana.mark, ana.phone])).toEqual([]);
    expect((await client.getMessage({ id, messageId: said })).data).toMatchObject({ jid, text: null });
    expect((await client.getMessage({ id, messageId: quoting })).data).toMatchObject({
      text: `I am ${bea.mark}`,
      sender: { phone: bea.phone, push_name: bea.mark },
      quoted: { id: said, from_me: false },
    });
    expect((await read()).reactions).toMatchObject([{ sender: { phone: bea.phone } }]);
    const events = await client.listEvents({ id, event: "message.received" });
    const bodies = await Promise.all(
      events.data.map(async ({ event_id }) => (await client.getEvent({ id, eventId: event_id })).data),
    );
    expect(JSON.stringify(bodies)).toContain(`I am ${bea.mark}`);
  });

  test("finds the person by a LID, and by the other format of the number", async () => {
    const { id, client } = shop;
    const [ana, eva] = [person("ana"), person("eva", "5511987650123")];
    await receive(ana, { text: ana.mark });
    const { lid } = (await client.getMessage({ id, messageId: await receive(ana, { text: "Hi" }) })).data;
    await receive(eva, { text: eva.mark });
    await drained();
    await erase({ jid: lid ?? "" });
    expect(await findRowExcerpts(rows, [ana.mark, ana.phone])).toEqual([]);
    await erase({ number: "551187650123" });
    expect(await findRowExcerpts(rows, [eva.mark, eva.phone])).toEqual([]);
  });

  test("cancels what waits for the person, and lets a campaign go on to the others", async () => {
    const { id, client } = shop;
    const [ana, bea] = [person("ana"), person("bea")];
    const held = { id, text: "Later", delay: 60_000, async: true } as const;
    const theirs = (await client.sendText({ ...held, number: ana.phone })).data.pendingMessageId ?? "";
    const other = (await client.sendText({ ...held, number: bea.phone })).data.pendingMessageId ?? "";
    const campaign = {
      name: "News",
      instance_id: id,
      message_template: "Hi",
      min_delay_ms: 0,
      max_delay_ms: 0,
    };
    const newsletter = (await owner.createCampaign(campaign)).data.id;
    await owner.addRecipients({ id: newsletter, recipients: [ana.phone, bea.phone] });
    const { affected } = await erase({ number: ana.phone });
    expect(affected).toMatchObject({ cancelled_sends: 1, skipped_recipients: 1, campaign_recipient: 1 });
    expect((await client.getMessage({ id, messageId: theirs })).data.status).toBe("cancelled");
    expect((await client.getMessage({ id, messageId: other })).data).toMatchObject({
      status: "pending",
      text: "Later",
    });
    await owner.startCampaign({ id: newsletter });
    await waitUntil(async () => (await owner.getCampaign({ id: newsletter })).data.status === "completed");
    const { data } = await owner.getCampaignReport({ id: newsletter });
    expect(data?.recipients).toMatchObject([
      { status: "skipped", reason: "erased", phone: expect.stringMatching(/^anon-/) },
      { phone: bea.phone, reason: null },
    ]);
  });

  test("discards the deliveries about the person, and no other", async () => {
    const receiver = await startReceiver();
    const [ana, bea] = [person("ana"), person("bea")];
    const { id, client } = shop;
    receiver.respond(503);
    const { data: webhook } = await client.createWebhook({
      id,
      url: receiver.url,
      events: ["message.received"],
    });
    receiver.trust(webhook.secret ?? "");
    for (const one of [ana, bea]) await receive(one, { text: one.mark });
    await receiver.waitFor(({ raw }) => raw.toString().includes(ana.mark));
    await receiver.waitFor(({ raw }) => raw.toString().includes(bea.mark));
    const { affected } = await erase({ number: ana.phone });
    expect(affected).toMatchObject({ cancelled_deliveries: 1 });
    receiver.respond(200);
    await gateway.advance(86_400_000);
    const states = async () =>
      rows<{ status: string }>("select status from delivery where webhook_id = $1 order by id", webhook.id);
    await waitUntil(async () => (await states()).every(({ status }) => status !== "retrying"));
    expect((await states()).map(({ status }) => status)).toEqual(["discarded", "delivered"]);
    await receiver.close();
  });

  test("keeps an opt-out, so that a list with the number is not written to again", async () => {
    const ana = person("ana");
    const { data: lead } = await owner.createLead({ phone: ana.phone, opted_out: true });
    await erase({ lead_id: lead.id });
    expect(await findRowExcerpts(rows, [ana.phone])).toEqual([]);
    const campaign = {
      name: "N",
      instance_id: shop.id,
      message_template: "Hi",
      min_delay_ms: 0,
      max_delay_ms: 0,
    };
    const { id } = (await owner.createCampaign(campaign)).data;
    expect((await owner.addRecipients({ id, recipients: [ana.phone] })).data.skipped).toBe(1);
  });

  test("takes the person off the lists of integrations, and deletes what these have of the chat", async () => {
    const [ana, bea] = [person("ana"), person("bea")];
    const ignore_jids = [`+${ana.phone}`, bea.jid];
    const config = { base_url: "http://127.0.0.1:9", public_id: "bot", ignore_jids };
    await owner.saveIntegration({ id: shop.id, provider: "typebot", enabled: false, config });
    for (const { jid, phone, mark } of [ana, bea])
      for (const insert of [
        "integration_link (account_id, integration_id, chat, origin, error) select account_id, id, $1, 'whatsapp', $2",
        "integration_chat (account_id, integration_id, chat, state) select account_id, id, $1, to_jsonb($2::text)",
        `integration_inbound (account_id, integration_id, body) select account_id, id, jsonb_build_object('phone', '+${phone}', 'of', $1::text, 'text', $2::text)`,
      ])
        await rows(`insert into ${insert} from integration`, jid, mark);
    await erase({ number: ana.phone });
    expect(await findRowExcerpts(rows, [ana.mark, ana.phone])).toEqual([]);
    const found = await findRowExcerpts(rows, [bea.mark]);
    expect(found.map((row) => row.split(":")[0]).sort()).toEqual([
      "public.integration_chat",
      "public.integration_inbound",
      "public.integration_link",
    ]);
    const { data } = await owner.getIntegration({ id: shop.id, provider: "typebot" });
    expect(data.config).toMatchObject({ ignore_jids: [bea.jid] });
  });

  test("leaves what an integration has received for a longer number that begins or ends alike", async () => {
    const ana = person("ana");
    const others = [`${ana.phone}7`, `1${ana.phone}`];
    for (const phone of [ana.phone, ...others])
      await rows(
        "insert into integration_inbound (account_id, integration_id, body) select account_id, id, jsonb_build_object('phone', $1::text) from integration",
        phone,
      );
    await erase({ number: ana.phone });
    const left = await rows<{ phone: string }>(
      "select body ->> 'phone' as phone from integration_inbound where body ->> 'phone' like $1 order by id",
      `%${ana.phone}%`,
    );
    expect(left.map(({ phone }) => phone)).toEqual(others);
  });

  test("is repeated after a restore by the ids of rows, without the person's address in its log", async () => {
    const ana = person("ana");
    const { data: lead } = await owner.createLead({ phone: ana.phone, name: ana.mark });
    await erase({ number: ana.phone });
    const logged = await gateway.database.db
      .selectFrom("erasure_log")
      .selectAll()
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    expect(logged).toMatchObject({ scope: "person", subject: { rows: { lead: [lead.id] } } });
    const restored = "update lead set phone = $1, name = $2 where id = $3";
    await rows(restored, ana.phone, ana.mark, lead.id);
    await owner.recordConsent({ purpose: "news", consent_type: "opt_in", granted: true, phone: ana.phone });
    await repeatErasure(gateway.database.db, gateway.gateway.engine, logged);
    await completed();
    expect(await findRowExcerpts(rows, [ana.mark, ana.phone])).toEqual([]);
  });

  test("is repeated after a restore in groups, for who has written there and for who was only a member", async () => {
    const { id, client } = shop;
    const [ana, bea, cai] = [person("ana"), person("bea"), person("cai")];
    const participants = [ana, bea, cai].map(({ phone }) => phone);
    const { jid } = (await client.createGroup({ id, name: "Team", participants })).data;
    for (const one of [ana, bea]) await receive(one, { group_jid: jid, text: one.mark });
    await client.listGroups({ id });
    await drained();
    await rows(`create table kept_message as select * from message where jid = '${jid}'`);
    await rows(`create table kept_group as select * from group_chat where jid = '${jid}'`);
    const [before] = await rows<{ last: string }>("select max(id) as last from erasure_log");
    await erase({ number: ana.phone });
    await erase({ number: cai.phone });
    const logged = await gateway.database.db
      .selectFrom("erasure_log")
      .selectAll()
      .where("id", ">", Number(before?.last ?? 0))
      .orderBy("id")
      .execute();
    expect(JSON.stringify(logged)).not.toMatch(new RegExp(participants.join("|")));
    await rows(`
      with written as (
        update message m set sender = k.sender, content = k.content from kept_message k where k.id = m.id
      )
      update group_chat g set participants = k.participants, owner = k.owner from kept_group k where k.id = g.id`);
    await rows("drop table kept_message, kept_group");
    for (const one of [ana.mark, ana.phone, cai.phone])
      expect(await findRowExcerpts(rows, [one])).not.toEqual([]);
    for (const one of logged) await repeatErasure(gateway.database.db, gateway.gateway.engine, one);
    await completed();
    expect(await findRowExcerpts(rows, [ana.mark, ana.phone, cai.mark, cai.phone])).toEqual([]);
    const { data } = await client.listMessages({ id, chat: jid });
    expect(data.map(({ text, sender }) => [text, sender?.phone])).toContainEqual([bea.mark, bea.phone]);
  });

  test("is refused beside a scope that covers everybody, and for whom it cannot mean", async () => {
    const ana = person("ana");
    const { data: lead } = await owner.createLead({ phone: ana.phone });
    const covers = "scope: must be `person` to anonymise one person; this scope covers everybody";
    expect(await refusal({ scope: "all", number: ana.phone })).toBe(covers);
    expect(await refusal({ scope: "messages", lead_id: lead.id })).toBe(covers);
    expect(await refusal({})).toBe("number: one of number, phone or jid is required");
    expect(await refusal({ scope: "messages", instance_id: shop.id })).toContain(
      "instance_id: does not narrow the scope",
    );
    expect(await refusal({ number: ana.phone, lead_id: lead.id })).toContain("lead_id: must be the only one");
    expect(await refusal({ number: shop.phone })).toContain("number: is the number of an instance");
    expect(await refusal({ jid: "120363111111111111@g.us" })).toContain("jid: must be a person");
    expect(await refusal({ number: "98765-4321" })).toContain("has no country code");
    expect(await refusal({ lead_id: 999_999_999 })).toContain("There is no such lead");
    expect((await owner.listLeads({ q: ana.phone })).data).toMatchObject([{ phone: ana.phone }]);
  });
});
