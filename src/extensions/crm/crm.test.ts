import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { oggOpus } from "../../../test/media-samples.ts";
import { blackPng } from "../../../test/sample-files.ts";
import { file, startFileServer } from "../../../test/servers/file-server.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import type { Client } from "../../client/client.ts";

let gateway: TestGateway;
let shop: TestInstance;
let owner: Client;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
  owner = gateway.owner;
});
afterAll(() => gateway.stop());

const MISSING = { status: 404, code: "NOT_FOUND" };

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return (await gateway.database.pool.query(text)).rows;
}

async function setAutoCreate(isOn: boolean): Promise<void> {
  await rows(`update account set settings = settings || '{"auto_create_leads":${isOn}}' where id = 1`);
}

async function received(phone: string): Promise<void> {
  await waitUntil(
    async () =>
      (await rows(`select 1 from message where direction = 'inbound' and jid like '${phone}@%'`)).length > 0,
  );
}

describe("a lead", () => {
  test("always keeps a phone, name or e-mail through every change", async () => {
    const { data: lead } = await owner.createLead({ phone: newPhone(), name: "Eva" });
    const named = await owner.updateLead({ id: lead.id, phone: null });
    expect(named.data).toMatchObject({ phone: null, name: "Eva" });
    await expect(owner.updateLead({ id: lead.id, name: null })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: "phone: is required: a lead needs a phone, a name or an email",
    });
    const renamed = await owner.updateLead({ id: lead.id, name: null, email: "eva@example.com" });
    expect(renamed.data).toMatchObject({ name: null, email: "eva@example.com" });
  });

  test("has the phone of the country that is sent beside it, or is refused", async () => {
    const { data } = await owner.createLead({ phone: "912 345 678", country_code: 351 });
    expect(data.phone).toBe("351912345678");
    const { id } = data;
    const moved = await owner.updateLead({ id, phone: "612 345 678", country_code: "ES" });
    expect(moved.data.phone).toBe("34612345678");
    await expect(owner.updateLead({ id, phone: "11987650003", country_code: "1" })).rejects.toMatchObject({
      message: expect.stringContaining('phone: is not a number of the country "+1"'),
    });
  });

  test("is created, changed, found and removed", async () => {
    const phone = newPhone();
    const { data } = await owner.createLead({
      phone: `+${phone}`,
      name: "Bia Conceição",
      email: "bia@example.com",
      tags: ["vip", "vip"],
      kanban_status: "open",
      custom_fields: { City: "Recife", Size: 3 },
    });
    expect(data).toMatchObject({
      phone,
      tags: ["vip"],
      custom_fields: { City: "Recife", Size: 3 },
      status: "new",
      kanban_status: "open",
      opted_out_at: null,
    });
    const { id } = data;
    await expect(owner.createLead({ phone })).rejects.toMatchObject({ status: 409, code: "CONFLICT" });
    for (const wrong of [{ phone: "abc" }, { custom_fields: { City: ["Recife"] } as never }])
      await expect(owner.createLead({ name: "Bad", ...wrong })).rejects.toMatchObject({ status: 400 });
    const changed = await owner.updateLead({ id, status: "won", custom_fields: { Size: null } });
    expect(changed.data).toMatchObject({
      status: "won",
      name: "Bia Conceição",
      custom_fields: { City: "Recife" },
    });
    for (const filter of [
      { q: "CONCEICAO" },
      { q: `00${phone}` },
      { tag: "vip" },
      { status: "won" },
      { kanban_status: "open" },
    ])
      expect((await owner.listLeads(filter)).data.map((lead) => lead.id)).toEqual([id]);
    expect((await owner.listLeads({ q: "nobody" })).data).toEqual([]);
    await owner.deleteLead({ id });
    await expect(owner.getLeadDetails({ id })).rejects.toMatchObject(MISSING);
  });

  test("loses a deleted note", async () => {
    const { data: lead } = await owner.createLead({ phone: newPhone(), name: "Notes" });
    const [first, second] = [
      (await owner.addLeadNote({ id: lead.id, note: "One" })).data,
      (await owner.addLeadNote({ id: lead.id, note: "Two" })).data,
    ];
    const deleting = { id: lead.id, noteId: first.id };
    expect((await owner.deleteLeadNote(deleting)).data).toEqual({ id: first.id });
    await expect(owner.deleteLeadNote(deleting)).rejects.toMatchObject(MISSING);
    expect((await owner.getLeadDetails({ id: lead.id })).data.notes).toMatchObject([{ id: second.id }]);
  });

  test("has notes, tags, and the last messages of its chats", async () => {
    const phone = newPhone();
    const { data } = await owner.createLead({ phone, name: "Ana" });
    const { id } = data;
    await owner.addLeadNote({ id, note: "Calls on Monday" });
    expect((await owner.addLeadTags({ id, tags: ["a", "b"] })).data.tags).toEqual(["a", "b"]);
    expect((await owner.addLeadTags({ id, tag: "b" })).data.tags).toEqual(["a", "b"]);
    await shop.client.sandboxReceive({ id: shop.id, from: phone, text: "Is it open?" });
    await received(phone);
    await shop.client.sendText({ id: shop.id, number: phone, text: "Yes" });
    const details = (await owner.getLeadDetails({ id })).data;
    expect(details.notes.map(({ note }) => note)).toEqual(["Calls on Monday"]);
    expect(details.messages.map(({ text, direction }) => [text, direction])).toEqual([
      ["Yes", "outbound"],
      ["Is it open?", "inbound"],
    ]);
    expect(details.conversations).toMatchObject([{ instance_id: shop.id, phone }]);
  });

  test("beyond the plan's limit is rejected with the remaining quota", async () => {
    await rows(
      "update plan set max_leads = (select count(*) from lead where account_id = 1) + 1 where name = 'unlimited'",
    );
    await owner.createLead({ name: "Last" });
    await expect(owner.createLead({ name: "Too many" })).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { quota: "max_leads", left: 0 },
    });
    await rows("update plan set max_leads = null where name = 'unlimited'");
  });
});

describe("an agent who may use one instance", () => {
  const REFUSED = { code: "VALIDATION_ERROR", details: { fields: [{ field: "phone" }] } };
  let agent: Client;
  let other: TestInstance;
  /** A contact of both instances, and one of the other instance only. */
  const [near, far] = [newPhone(), newPhone()];

  const write = async (instance: TestInstance, from: string) => {
    await instance.client.sandboxReceive({ id: instance.id, from, text: `To ${instance.id}` });
    await waitUntil(async () =>
      (await instance.client.listChats({ id: instance.id })).data.some(({ phone }) => phone === from),
    );
  };

  beforeAll(async () => {
    other = await gateway.connectInstance();
    await write(shop, near);
    await write(other, near);
    await write(other, far);
    const login = { email: "one-shop@example.com", password: PASSWORD };
    await owner.createUser({ name: "Agent", ...login, instance_ids: [shop.id] });
    agent = (await signIn(gateway.url, login)).client;
  });

  test("sees the leads of its contacts, with their chats of its instance", async () => {
    const { data: own } = await owner.createLead({ phone: near, tags: ["both"] });
    const { data: hidden } = await owner.createLead({ phone: far, tags: ["both"] });
    expect((await agent.listLeads({ tag: "both" })).data.map(({ id }) => id)).toEqual([own.id]);
    const { tags } = (await agent.listLeadLabels()).data;
    expect(tags.filter(({ name }) => name === "both")).toEqual([{ name: "both", count: 1 }]);
    const { conversations, messages } = (await agent.getLeadDetails({ id: own.id })).data;
    const places = [...conversations, ...messages].map(({ instance_id }) => instance_id);
    expect([...new Set(places)]).toEqual([shop.id]);
    const offers = { purpose: "offers", consent_type: "opt_in", granted: true };
    await expect(agent.recordConsent({ lead_id: hidden.id, ...offers })).rejects.toMatchObject(MISSING);
    expect((await agent.addLeadTags({ id: own.id, tag: "mine" })).data.tags).toEqual(["both", "mine"]);
  });

  test("makes leads of its contacts only, and learns of no other number whether it is a lead", async () => {
    const [known, unknown, contact] = [newPhone(), newPhone(), newPhone()];
    await owner.createLead({ phone: known });
    for (const input of [{ phone: known }, { phone: unknown }, { name: "Nobody" }])
      await expect(agent.createLead(input)).rejects.toMatchObject(REFUSED);
    await write(shop, contact);
    const { data: lead } = await agent.createLead({ phone: contact });
    for (const phone of [known, unknown, null])
      await expect(agent.updateLead({ id: lead.id, name: "Ana", phone })).rejects.toMatchObject(REFUSED);
  });

  test("records and reads what its contacts have agreed to", async () => {
    const about = { purpose: "news", consent_type: "opt_in", granted: true };
    for (const phone of [near, far]) await owner.recordConsent({ phone, ...about });
    await agent.recordConsent({ phone: near, ...about, granted: false });
    for (const subject of [{ phone: far }, {}])
      await expect(agent.recordConsent({ ...subject, ...about })).rejects.toMatchObject(MISSING);
    const { data } = await agent.listConsent({ userId: "me" });
    expect(data.map(({ phone, granted }) => [phone, granted])).toEqual([
      [near, false],
      [near, true],
    ]);
  });
});

describe("custom fields of leads", () => {
  test("accept only values of their declared type; undeclared fields accept any plain value", async () => {
    for (const [name, type] of [
      ["Born", "date"],
      ["Points", "number"],
      ["Member", "boolean"],
    ] as const)
      await owner.createCustomField({ name, type });
    await owner.createCustomField({ name: "Plan", type: "select", options: ["basic", "pro"] });
    const { id } = (await owner.createLead({ name: "Eva" })).data;
    const good = { Born: "2001-02-28", Points: 7, Member: true, Plan: "pro", Nick: "Ev" };
    expect((await owner.setLeadFields({ id, fields: good })).data.custom_fields).toEqual(good);
    const wrong: Record<string, string>[] = [
      { Born: "2001-02-30" },
      { Points: "1,5" },
      { Points: " " },
      { Member: "yes" },
      { Plan: "gold" },
    ];
    for (const fields of wrong) {
      const [name] = Object.keys(fields);
      await expect(owner.setLeadFields({ id, fields })).rejects.toMatchObject({
        status: 400,
        details: { fields: [{ field: `custom_fields.${name}` }] },
      });
    }
    const bare = await owner.setLeadFields({ id, Nick: null, Points: 8 });
    expect(bare.data.custom_fields).toEqual({ Born: "2001-02-28", Points: 8, Member: true, Plan: "pro" });
  });

  test("read a number or a flag that is written as a text, and a number that stands for a text", async () => {
    await owner.createCustomField({ name: "Weight", type: "number" });
    await owner.createCustomField({ name: "Active", type: "boolean" });
    await owner.createCustomField({ name: "Code", type: "text" });
    const written = { Weight: " -1.50", Active: "TRUE", Code: 7, Free: "1.5" };
    const meant = { Weight: -1.5, Active: true, Code: "7", Free: "1.5" };
    const { data } = await owner.createLead({ name: "Noa", custom_fields: written });
    expect(data.custom_fields).toEqual(meant);
    expect((await owner.setLeadFields({ id: data.id, Weight: "2" })).data.custom_fields.Weight).toBe(2);
  });

  test("have unique names, and are renamed together with their values", async () => {
    const field = (await owner.createCustomField({ name: "Colour" })).data;
    await expect(owner.createCustomField({ name: "Colour" })).rejects.toMatchObject({ status: 409 });
    await expect(owner.createCustomField({ name: "Choice", type: "select" })).rejects.toMatchObject({
      status: 400,
    });
    const lead = (await owner.createLead({ name: "Ivo", custom_fields: { Colour: "red" } })).data;
    await owner.updateCustomField({ id: field.id, name: "Color" });
    expect((await owner.getLeadDetails({ id: lead.id })).data.custom_fields).toEqual({ Color: "red" });
    await owner.deleteCustomField({ id: field.id });
    expect((await owner.listCustomFields()).data.map(({ name }) => name)).not.toContain("Color");
  });
});

describe("an inbound message", () => {
  test("creates a lead for a new sender if the account's setting says so", async () => {
    const [silent, loud] = [newPhone(), newPhone()];
    await shop.client.sandboxReceive({ id: shop.id, from: silent, text: "Hello" });
    await received(silent);
    await setAutoCreate(true);
    await shop.client.sandboxReceive({ id: shop.id, from: loud, push_name: "Leo", text: "Hello" });
    await shop.client.sandboxReceive({ id: shop.id, from: loud, push_name: "Leo", text: "Again" });
    await waitUntil(async () => (await owner.listLeads({ q: loud })).data.length > 0);
    expect((await owner.listLeads({ q: loud })).data).toMatchObject([{ phone: loud, name: "Leo" }]);
    expect((await owner.listLeads({ q: silent })).data).toEqual([]);
    await setAutoCreate(false);
  });

  test.each(["STOP", "sair", " Parar. ", "CANCELAR!"])("with text %j opts its sender out", async (text) => {
    const phone = newPhone();
    const { id } = (await owner.createLead({ phone, name: "Leaver" })).data;
    await shop.client.sandboxReceive({ id: shop.id, from: phone, text: "Please do not STOP" });
    await received(phone);
    expect((await owner.getLeadDetails({ id })).data.opted_out_at).toBeNull();
    await shop.client.sandboxReceive({ id: shop.id, from: phone, text });
    await waitUntil(async () => (await owner.getLeadDetails({ id })).data.opted_out_at !== null);
    expect((await owner.listLeads({ opted_out: "true" })).data.map((lead) => lead.id)).toContain(id);
    // The list contains no phone, only its digest.
    const list = await rows("select encode(digest, 'hex') as digest from suppression");
    expect(list.every(({ digest }) => /^[0-9a-f]{64}$/.test(String(digest)))).toBe(true);
    await owner.deleteLead({ id });
    const again = await owner.createLead({ phone, name: "Back" });
    expect(again.data.opted_out_at).not.toBeNull();
    const back = await owner.updateLead({ id: again.data.id, opted_out: false });
    expect(back.data.opted_out_at).toBeNull();
  });
});

describe("a lead that has only a LID", () => {
  let personCount = 0;

  /** A lead with only a LID, and its phone. */
  async function addNameless(
    row: string,
  ): Promise<{ id: number; phone: string; learn: () => Promise<void> }> {
    personCount += 1;
    const [lid, phone] = [`9${String(personCount).padStart(14, "0")}@lid`, newPhone()];
    const [{ id } = {}] = await rows(
      `insert into lead (account_id, lid, ${row.split("=")[0]}) values (1, '${lid}', ${row.split("=")[1]}) returning id`,
    );
    const learn = async () => {
      await rows(`insert into contact (account_id, instance_id, jid, lid, phone)
        values (1, ${shop.id}, '${phone}@s.whatsapp.net', '${lid}', '${phone}')`);
      await waitUntil(async () => {
        await gateway.advance(60_000);
        return (await rows(`select 1 from lead where lid = '${lid}' and phone is null`)).length === 0;
      }, 60_000);
    };
    return { id: Number(id), phone, learn };
  }

  test("gets the phone as soon as a contact has it, and an opt-out applies to the phone", async () => {
    const { id, phone, learn } = await addNameless("opted_out_at=now()");
    await learn();
    expect((await owner.getLeadDetails({ id })).data.phone).toBe(phone);
    await owner.deleteLead({ id });
    expect((await owner.createLead({ phone })).data.opted_out_at).not.toBeNull();
  });

  test("is merged with the lead that has the phone already", async () => {
    const { id: former, phone, learn } = await addNameless("name='Pushed'");
    const { data } = await owner.createLead({ phone, tags: ["b"], custom_fields: { City: "Recife" } });
    await owner.addLeadNote({ id: former, note: "Wrote first" });
    await owner.updateLead({ id: former, tags: ["a", "b"], custom_fields: { City: "Olinda", Size: 3 } });
    await learn();
    const kept = (await owner.getLeadDetails({ id: data.id })).data;
    expect(kept).toMatchObject({
      phone,
      name: "Pushed",
      tags: ["a", "b"],
      custom_fields: { City: "Recife", Size: 3 },
    });
    expect(kept.lid).toMatch(/@lid$/);
    expect(kept.notes.map(({ note }) => note)).toEqual(["Wrote first"]);
    await expect(owner.getLeadDetails({ id: former })).rejects.toMatchObject(MISSING);
  });
});

describe("a quick reply", () => {
  test("is saved under a unique shortcut, and used by a send", async () => {
    const first = await owner.saveQuickReply({ shortcut: "/Hours", content: "9 to 5" });
    const titled = { shortcut: "closed", content: "We are closed", title: "Night" };
    await owner.saveQuickReply(titled);
    const changed = await owner.saveQuickReply({ shortcut: "closed", content: "Closed" });
    expect(changed.data).toMatchObject({ title: "Night", content: "Closed" });
    const untitled = await owner.saveQuickReply({ shortcut: "closed", content: "Closed", title: null });
    expect(untitled.data.title).toBeNull();
    await owner.deleteQuickReply({ id: untitled.data.id });
    const again = await owner.saveQuickReply({
      shortcut: "hours",
      content: "9 to 6",
      title: "Opening hours",
    });
    expect(again.data).toMatchObject({ id: first.data.id, shortcut: "hours", content: "9 to 6" });
    const send = async (input: { text?: string; quick_reply?: string }) => {
      const { data } = await shop.client.sendText({ id: shop.id, number: newPhone(), ...input });
      return (await shop.client.getMessage({ id: shop.id, messageId: data.message_id ?? "" })).data.text;
    };
    expect(await send({ text: "/hours" })).toBe("9 to 6");
    expect(await send({ quick_reply: "hours" })).toBe("9 to 6");
    expect(await send({ text: "/nothing" })).toBe("/nothing");
    expect(await send({ text: "see /hours" })).toBe("see /hours");
    await expect(send({ quick_reply: "nothing" })).rejects.toMatchObject({ status: 400 });
    await expect(send({})).rejects.toMatchObject({ status: 400 });
    const local = { shortcut: "bad", content: "x", media_url: "file:///etc/passwd" };
    await expect(owner.saveQuickReply(local)).rejects.toMatchObject({ status: 400 });
    await owner.deleteQuickReply({ id: first.data.id });
    expect((await owner.listQuickReplies()).data).toEqual([]);
  });

  test("is filled in for its chat, also as a caption, and refused with a text that its file would not show", async () => {
    const files = await startFileServer();
    onTestFinished(() => files.close());
    const phone = newPhone();
    await owner.createLead({ phone, name: "Bia", custom_fields: { Card: "Gold" } });
    const content = "Thank you, {{ Name }}! {{card}}, {{phone}}, {{code}}";
    const filled = `Thank you, Bia! Gold, ${phone}, {{code}}`;
    await owner.saveQuickReply({ shortcut: "thanks", content });
    await owner.saveQuickReply({
      shortcut: "card",
      content,
      media_url: files.serve("/a.png", file(blackPng(2), "image/png")),
    });
    const media_url = files.serve("/a.ogg", file(oggOpus([960, 960]), "audio/ogg"));
    await owner.saveQuickReply({ shortcut: "jingle", content, media_url });
    const send = async (input: { text?: string; quick_reply?: string }) => {
      const { data } = await shop.client.sendText({ id: shop.id, number: phone, ...input });
      return (await shop.client.getMessage({ id: shop.id, messageId: data.message_id ?? "" })).data;
    };
    expect(await send({ text: "/thanks " })).toMatchObject({ text: filled });
    expect(await send({ quick_reply: "thanks" })).toMatchObject({ text: filled });
    expect(await send({ quick_reply: "card" })).toMatchObject({ type: "image", caption: filled });
    await expect(send({ quick_reply: "jingle" })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^quick_reply: has a text, which is not shown with/),
    });
    await owner.saveQuickReply({ shortcut: "jingle", content: "", media_url });
    expect(await send({ text: "/jingle" })).toMatchObject({ type: "audio" });
    await expect(owner.saveQuickReply({ shortcut: "jingle", content: " " })).rejects.toMatchObject({
      status: 400,
    });
  });
});
