import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { setUpCampaignStory } from "../../../test/stories/campaign-story.ts";

const story = setUpCampaignStory();

let personCount = 0;

/** A Brazilian mobile that the sandbox knows only without the ninth digit, in both formats. */
function newPerson(): { long: string; short: string } {
  personCount += 1;
  const rest = `8${String(personCount).padStart(3, "0")}0007`;
  return { long: `55519${rest}`, short: `5551${rest}` };
}

async function finish(id: number) {
  await story.owner.startCampaign({ id });
  await story.reach(id);
  const { data } = await story.owner.getCampaignReport({ id });
  if (!data) throw new Error("the report came as a file");
  return data;
}

/** Chats with these recipients to which the shop sent. */
async function reached(...phones: string[]): Promise<string[]> {
  const jids = phones.map((phone) => `${phone}@s.whatsapp.net`);
  const sent = await story.rows<{ chat: string }>(
    "select chat from sandbox.ledger where action = 'send' and phone = $1 and chat = any($2) order by id",
    story.shop.phone,
    jids,
  );
  return sent.map(({ chat }) => chat);
}

/** A recipient that the check of the request missed, for example one that was added before the check. */
async function addUnchecked(campaign: number, phone: string): Promise<void> {
  await story.rows(
    "insert into campaign_recipient (account_id, campaign_id, phone) values (1, $1, $2)",
    campaign,
    phone,
  );
}

describe("duplicate recipients of a campaign", () => {
  test("are detected between the two formats of a number, in one request and in the next", async () => {
    const { long, short } = newPerson();
    const id = await story.create();
    const { data } = await story.owner.addRecipients({ id, numbers: [long, short] });
    expect(data).toMatchObject({ inserted: 1, duplicates: 1, total: 1 });
    expect((await story.owner.addRecipients({ id, numbers: [short] })).data).toMatchObject({
      inserted: 0,
      duplicates: 1,
    });
    await finish(id);
    expect(await reached(long, short)).toEqual([`${short}@s.whatsapp.net`]);
  });

  test("get one message per person, and the other recipient is shown as a duplicate", async () => {
    const { long, short } = newPerson();
    const id = await story.create();
    await story.owner.addRecipients({ id, numbers: [long] });
    await addUnchecked(id, short);
    const { recipients, totals } = await finish(id);
    expect(recipients.map(({ phone, reason }) => [phone, reason])).toEqual([
      [long, null],
      [short, "duplicate"],
    ]);
    expect(totals).toMatchObject({ total: 2, sent: 1, skipped: 1 });
    expect(await reached(long, short)).toHaveLength(1);
  });

  test("cannot be queued for one person, even by a direct change of the rows", async () => {
    const { long, short } = newPerson();
    const id = await story.create();
    await story.owner.addRecipients({ id, numbers: [long] });
    await addUnchecked(id, short);
    const twice = story.rows("update campaign_recipient set person = $1 where campaign_id = $2", short, id);
    await expect(twice).rejects.toThrow("campaign_recipient_person");
  });
});

describe("a consent", () => {
  const CONSENT = { consent_type: "opt_in" };

  test("that is withdrawn under the other format of a number is withdrawn", async () => {
    const { long, short } = newPerson();
    await story.owner.recordConsent({ ...CONSENT, purpose: "offers", granted: true, phone: long });
    const { data } = await story.owner.recordConsent({
      ...CONSENT,
      purpose: "offers",
      granted: false,
      phone: short,
    });
    expect(data.current).toBe(true);
    const id = await story.create({ consent_purpose: "offers" });
    await story.owner.addRecipients({ id, numbers: [long] });
    expect((await finish(id)).recipients).toMatchObject([{ status: "skipped", reason: "no_consent" }]);
    expect(await reached(long, short)).toEqual([]);
  });

  test("that is granted under one format of a number is valid for the other", async () => {
    const { long, short } = newPerson();
    await story.owner.recordConsent({ ...CONSENT, purpose: "offers", granted: true, phone: long });
    const id = await story.create({ consent_purpose: "offers" });
    await story.owner.addRecipients({ id, numbers: [short] });
    expect((await finish(id)).totals).toMatchObject({ sent: 1, skipped: 0 });
  });

  test("that a lead withdrew before its phone was known is withdrawn for the phone", async () => {
    const { long } = newPerson();
    await story.owner.recordConsent({ ...CONSENT, purpose: "tips", granted: true, phone: long });
    const lead = (await story.owner.createLead({ name: "Nameless" })).data;
    await story.owner.recordConsent({ ...CONSENT, purpose: "tips", granted: false, lead_id: lead.id });
    await story.owner.updateLead({ id: lead.id, phone: long });
    const id = await story.create({ consent_purpose: "tips" });
    await story.owner.addRecipients({ id, numbers: [long] });
    expect((await finish(id)).recipients).toMatchObject([{ reason: "no_consent" }]);
  });
});

describe("a lead", () => {
  test("has both formats of its number, and opts out under either", async () => {
    const { long, short } = newPerson();
    await story.rows(`update account set settings = settings || '{"auto_create_leads":true}' where id = 1`);
    const { id } = (await story.owner.createLead({ phone: long, name: "Bia" })).data;
    await expect(story.owner.createLead({ phone: short })).rejects.toMatchObject({
      status: 409,
      code: "CONFLICT",
    });
    await story.shop.client.sendText({ id: story.shop.id, number: long, text: "Hi" });
    await story.shop.client.sandboxReceive({ id: story.shop.id, from: short, text: "STOP" });
    await waitUntil(async () => (await story.owner.getLeadDetails({ id })).data.opted_out_at !== null);
    await story.rows(`update account set settings = settings - 'auto_create_leads' where id = 1`);
    for (const search of [long, short, `+${short.slice(0, 2)} ${short.slice(2)}`])
      expect((await story.owner.listLeads({ search })).data.map((lead) => lead.id)).toEqual([id]);
    const { conversations, messages } = (await story.owner.getLeadDetails({ id })).data;
    expect(conversations).toMatchObject([{ phone: short }]);
    expect(messages.map(({ text }) => text)).toEqual(["STOP", "Hi"]);
    expect((await story.owner.updateLead({ id, phone: short })).data.phone).toBe(short);
  });
});

test("an opt-out by LID also applies to the phone once it is known", async () => {
  const { short } = newPerson();
  await story.shop.client.sandboxContact({ id: story.shop.id, from: short, known: "lid" });
  await story.shop.client.sandboxReceive({ id: story.shop.id, from: short, text: "SAIR" });
  const query = "select jid from message where direction = 'inbound' and content->>'text' = 'SAIR'";
  await waitUntil(async () => (await story.rows(query)).length > 0);
  const [{ jid } = { jid: "" }] = await story.rows<{ jid: string }>(query);
  expect(jid).toMatch(/@lid$/);
  await story.rows("update contact set phone = $1, jid = $1 || '@s.whatsapp.net' where lid = $2", short, jid);
  const id = await story.create();
  const { data } = await story.owner.addRecipients({ id, numbers: [short] });
  expect(data).toMatchObject({ inserted: 1, skipped: 1 });
});

describe("the digits of a LID in place of a number", () => {
  const LID = "100011999990058";

  test("address the person with that LID, in sends and in campaigns", async () => {
    const { short } = newPerson();
    const jid = `${short}@s.whatsapp.net`;
    await story.shop.client.sandboxReceive({ id: story.shop.id, from: short, text: "It is me" });
    const find = () => story.rows("select from contact where jid = $1", jid);
    await waitUntil(async () => (await find()).length > 0);
    await story.rows("update contact set lid = $1 where jid = $2", `${LID}@lid`, jid);
    const sent = await story.shop.client.sendText({ id: story.shop.id, number: LID, text: "Hello" });
    expect(sent.data?.jid).toBe(jid);
    expect(await story.rows("select jid from conversation where jid like $1", `${LID}@%`)).toEqual([]);
    const id = await story.create();
    const { data } = await story.owner.addRecipients({ id, numbers: [LID, short] });
    expect(data).toMatchObject({ inserted: 1, duplicates: 1 });
    expect((await finish(id)).recipients).toMatchObject([{ phone: short, reason: null }]);
  });

  test("match a campaign recipient before the send if the LID is learnt after they were added", async () => {
    const { short } = newPerson();
    const later = LID.replace("58", "59");
    const id = await story.create();
    await story.owner.addRecipients({ id, numbers: [short, later] });
    await story.rows(
      `insert into contact (account_id, instance_id, jid, lid, phone) values (1, $1, $2 || '@s.whatsapp.net', $3, $2)`,
      story.shop.id,
      short,
      `${later}@lid`,
    );
    expect((await finish(id)).recipients.map(({ phone, reason }) => [phone, reason])).toEqual([
      [short, null],
      [later, "duplicate"],
    ]);
    expect(await reached(short, later)).toEqual([`${short}@s.whatsapp.net`]);
  });

  test("match a campaign recipient before the send if the LID is learnt after the selection", async () => {
    const { long, short } = newPerson();
    const other = await story.gateway.connectInstance();
    const { data: known } = await other.client.checkContacts({ id: other.id, numbers: [short] });
    const digits = (known[0]?.lid ?? "").replace("@lid", "");
    const id = await story.create();
    // The shop learns the LID when it asks the network for the format of the number.
    await story.owner.addRecipients({ id, numbers: [long] });
    await addUnchecked(id, digits);
    const { recipients } = await finish(id);
    expect(recipients.map(({ phone, reason }) => [phone, reason])).toEqual([
      [long, null],
      [digits, "duplicate"],
    ]);
    expect(await reached(short, digits)).toEqual([`${short}@s.whatsapp.net`]);
  });
});
