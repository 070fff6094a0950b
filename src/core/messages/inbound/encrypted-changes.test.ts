import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";
import type { SecretChange, SecretChangeOptions } from "../../../../test/whatsapp-server/control.ts";
import { createClient } from "../../../client/client.ts";
import { LATER_FIELDS } from "../../../network/whatsapp/baileys-fixes/keep-later-fields.ts";

const TOKEN = "a-metrics-token-for-this-test";
let on: WhatsAppGateway;
let me: string;
let ana: string;
let bia: string;
let group: string;

beforeAll(async () => {
  on = await startWhatsAppGateway(undefined, { WAYGATE_METRICS_TOKEN: TOKEN });
  me = on.instance.phone;
  ana = (await on.control.addPerson({ name: "Ana" })).phone;
  bia = (await on.control.addPerson({ name: "Bia" })).phone;
  group = (await on.control.addGroup("Team", [ana, bia, me])).jid;
  for (const person of [ana, bia]) await receive(person, me, "Oi");
});

afterAll(() => on?.stop());

async function rows<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
  return (await on.gateway.database.pool.query(text, values)).rows;
}

// biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs of an event
type Data = any;

async function eventsOf(event: string, id: string): Promise<Data[]> {
  const found = await rows<{ body: Buffer }>(
    `select body from event where instance_id = $1 and event = $2 and strpos(convert_from(body, 'UTF8'), $3) > 0
     order by sequence`,
    on.instance.id,
    event,
    id,
  );
  const all = found.map(({ body }) => JSON.parse(body.toString("utf8")).data);
  return all.filter((data) => (data.message_id ?? data.message.message_id) === id);
}

/** The nth recorded event of a message. */
async function eventOf(event: string, id: string, nth = 1): Promise<Data> {
  await waitUntil(async () => (await eventsOf(event, id)).length >= nth);
  return (await eventsOf(event, id))[nth - 1];
}

/** Resolves with the id of the stored message. */
async function receive(person: string, to: string, text: string): Promise<string> {
  const id = await on.control.sendMessage(person, to, text);
  await waitUntil(async () => (await stored(id)) !== undefined);
  return id;
}

interface StoredRow {
  content: { text?: string; caption?: string };
  secret: Buffer | null;
  edited_at: Date | null;
  deleted_at: Date | null;
}

async function stored(id: string): Promise<StoredRow | undefined> {
  const [row] = await rows<StoredRow>(
    "select content, secret, edited_at, deleted_at from message where instance_id = $1 and message_id = $2",
    on.instance.id,
    id,
  );
  return row;
}

const textOf = async (id: string) => (await stored(id))?.content.text;

const change = (by: string, to: string, id: string, what: SecretChange, options?: SecretChangeOptions) =>
  on.control.sendEncryptedChange(by, to, id, what, options);

const edit = (by: string, to: string, id: string, text: string, options?: SecretChangeOptions) =>
  change(by, to, id, { kind: "edit", text }, options);

async function ignored(reason: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const text = await (await fetch(`${on.gateway.url}/metrics`, { headers })).text();
  const value = text.match(new RegExp(`waygate_message_changes_ignored_total{reason="${reason}"} (\\d+)`));
  return Number(value?.[1] ?? 0);
}

/** Whether the change was counted as ignored. */
async function isIgnored(reason: string, act: () => Promise<unknown>): Promise<void> {
  const before = await ignored(reason);
  await act();
  await waitUntil(async () => (await ignored(reason)) > before);
}

describe("an encrypted edit", () => {
  const ADDRESSES = [
    ["pn", "pn"],
    ["pn", "lid"],
    ["lid", "pn"],
    ["lid", "lid"],
  ] as const;

  test.each([["a chat"], ["a group"]])(
    "of a text in %s is read, whichever addresses its key names",
    async (where) => {
      const to = where === "a group" ? group : me;
      const id = await receive(ana, to, "Helo");
      for (const [nth, [author, sender]] of ADDRESSES.entries()) {
        const text = `Hello by ${author} and ${sender}`;
        const own = await edit(ana, to, id, text, { author, sender, at: Date.now() + nth * 2_000 });
        const data = await eventOf("message.edited", id, nth + 1);
        expect(data).toMatchObject({ message_id: id, text, by: { phone: ana }, message: { text } });
        expect(data.reason).toBeUndefined();
        expect(await textOf(id)).toBe(text);
        expect(await stored(own)).toBeUndefined();
        expect(await eventsOf("message.received", own)).toEqual([]);
      }
    },
  );

  test("by the own phone is read, of a message of the phone and of one of the API, also after a restart", async () => {
    const { id, client } = on.instance;
    const sent = (await client.sendText({ id, number: ana, text: "By API" })).data.message_id ?? "";
    const typed = await receive(me, ana, "By phon");
    await waitUntil(async () => (await on.control.message(me, sent)) !== undefined);
    await edit(me, ana, typed, "By phone");
    expect(await eventOf("message.edited", typed)).toMatchObject({ text: "By phone", by: { phone: me } });
    await on.gateway.restart();
    on.instance.client = createClient({ baseUrl: on.gateway.url, apiKey: on.instance.api_key });
    await waitUntil(async () => (await on.instance.client.getInstanceStatus({ id })).data.connected);
    const later = { at: Date.now() + 2_000 };
    await edit(me, ana, sent, "By the API", later);
    await edit(me, ana, typed, "By my phone", later);
    expect(await eventOf("message.edited", sent)).toMatchObject({
      text: "By the API",
      message: { from_me: true },
    });
    expect(await eventOf("message.edited", typed, 2)).toMatchObject({ text: "By my phone" });
    for (const one of [sent, typed]) expect((await stored(one))?.secret).toHaveLength(93);
  });

  test("of a caption, an event or a poll changes its text", async () => {
    const picture = await on.control.sendMessage(ana, me, {
      kind: "media",
      media_type: "image",
      mime_type: "image/png",
      bytes: randomBytes(100),
      caption: "Befor",
    });
    const caption = { imageMessage: { caption: "Before" } };
    await eventOf("message.received", picture);
    await change(ana, me, picture, {
      kind: "raw",
      type: 2,
      message: { protocolMessage: { editedMessage: caption } },
    });
    expect((await eventOf("message.edited", picture)).message).toMatchObject({
      caption: "Before",
      type: "image",
    });
    const ask = (name: string) => ({ pollCreationMessageV3: { name, options: [{ optionName: "Yes" }] } });
    const poll = await on.control.sendMessage(ana, group, { kind: "raw", message: ask("Luch?") });
    await eventOf("message.received", poll);
    await change(ana, group, poll, { kind: "raw", type: 4, message: ask("Lunch?") });
    expect(await eventOf("message.edited", poll)).toMatchObject({ text: "Lunch?\n1. Yes" });
    await change(bia, group, poll, { kind: "poll_option", option: "No" }, { at: Date.now() + 2_000 });
    expect(await eventOf("message.edited", poll, 2)).toMatchObject({
      text: "Lunch?\n1. Yes\n2. No",
      by: { phone: bia },
    });
    const event = (name: string) => ({ eventMessage: { name } });
    const party = await on.control.sendMessage(ana, group, { kind: "raw", message: event("Patry") });
    await eventOf("message.received", party);
    await change(ana, group, party, { kind: "raw", type: 1, message: event("Party") });
    expect((await eventOf("message.edited", party)).text).toContain("Party");
  });

  test("of a message that is not in the log is reported without a text, and counted", async () => {
    const id = "3A0UNLOGGED";
    await isIgnored("no_secret", () => edit(ana, me, id, "Hello", { secret: randomBytes(32) }));
    expect(await eventOf("message.edited", id)).toMatchObject({ text: null, reason: "no_secret" });
  });

  const key = { remoteJid: "", fromMe: true, id: "3A0TARGET" };
  const sealed = {
    targetMessageKey: key,
    encPayload: randomBytes(40),
    encIv: randomBytes(12),
    secretEncType: 2,
  };

  test.each([
    ["of a kind that nobody knows", "unknown_kind", { ...sealed, secretEncType: 9 }],
    ["of a kind that changes no words", "unknown_kind", { ...sealed, secretEncType: 3 }],
    ["without a message that it is about", "undecryptable", { ...sealed, targetMessageKey: undefined }],
    ["without content", "undecryptable", { ...sealed, encPayload: undefined }],
  ])("%s is counted, and is no message", async (_, reason, secretEncryptedMessage) => {
    let own = "";
    await isIgnored(reason, async () => {
      own = await on.control.sendMessage(ana, me, { kind: "raw", message: { secretEncryptedMessage } });
    });
    expect(await stored(own)).toBeUndefined();
  });

  test("without the secret is reported without a text, and is no message", async () => {
    const id = await on.control.sendMessage(ana, me, "Helo", { secret: Buffer.alloc(0) });
    await eventOf("message.received", id);
    const own = await edit(ana, me, id, "Hello", { secret: randomBytes(32) });
    expect(await eventOf("message.edited", id)).toMatchObject({
      text: null,
      reason: "no_secret",
      message: { text: "Helo" },
    });
    expect(await stored(own)).toBeUndefined();
    expect(await stored(id)).toMatchObject({ content: { text: "Helo" }, edited_at: null });
  });

  test("under another secret is reported without a text, and counted", async () => {
    const id = await receive(ana, me, "Helo");
    await isIgnored("undecryptable", () => edit(ana, me, id, "Hello", { secret: randomBytes(32) }));
    expect(await eventOf("message.edited", id)).toMatchObject({ text: null, reason: "undecryptable" });
    expect(await stored(id)).toMatchObject({ content: { text: "Helo" }, edited_at: null });
  });
});

describe("a change of a message", () => {
  const plain = { edit: (by: string, to: string, id: string) => on.control.edit(by, to, id, "Changed") };

  test.each([
    ["an encrypted edit", "other_author", (id: string) => edit(bia, group, id, "Changed")],
    ["an edit", "other_author", (id: string) => plain.edit(bia, group, id)],
    ["a deletion", "other_author", (id: string) => on.control.delete(bia, group, id)],
    ["an edit", "other_chat", (id: string) => plain.edit(bia, me, id)],
    ["a deletion", "other_chat", (id: string) => on.control.delete(bia, me, id)],
    ["its author's edit", "other_chat", (id: string) => plain.edit(ana, me, id)],
    [
      "an option for what is no poll",
      "other_author",
      (id: string) => change(bia, group, id, { kind: "poll_option", option: "Forged" }),
    ],
  ])("changes nothing and is counted: %s, %s", async (_, reason, act) => {
    const id = await receive(ana, group, "Original");
    await isIgnored(reason, () => act(id));
    expect(await stored(id)).toMatchObject({
      content: { text: "Original" },
      edited_at: null,
      deleted_at: null,
    });
    for (const event of ["message.edited", "message.deleted"]) expect(await eventsOf(event, id)).toEqual([]);
  });

  test("is not kept out by a change of another member under the id of the message", async () => {
    const id = await receive(ana, group, "Original");
    await isIgnored("other_author", async () => {
      const other = await receive(ana, group, "Another");
      await on.control.edit(bia, group, other, "Forged", { id });
    });
    await on.control.edit(ana, group, id, "Mine");
    expect(await eventOf("message.edited", id)).toMatchObject({ text: "Mine", by: { phone: ana } });
  });

  test("is no message of another member under the id of one that cannot be read", async () => {
    const message = { requestPhoneNumberMessage: {} };
    const id = await on.control.sendMessage(ana, group, { kind: "raw", message });
    await eventOf("message.received", id);
    await on.control.sendMessage(bia, group, "Forged", { id });
    await receive(bia, group, "after");
    expect(await stored(id)).toMatchObject({ content: { kind: "unsupported" } });
    expect(await eventsOf("message.received", id)).toHaveLength(1);
  });

  test("may be a deletion by an admin of the group", async () => {
    const id = await receive(bia, group, "Spam");
    await on.control.delete(ana, group, id);
    expect(await eventOf("message.deleted", id)).toMatchObject({ by: { phone: ana } });
  });

  test("that is older than the last edit changes nothing", async () => {
    const id = await receive(ana, me, "One");
    const now = Date.now();
    await edit(ana, me, id, "Three", { at: now + 20_000 });
    await eventOf("message.edited", id);
    await isIgnored("outdated", () => edit(ana, me, id, "Two", { at: now + 10_000 }));
    await isIgnored("outdated", () => on.control.edit(ana, me, id, "Two", { at: now + 10_000 }));
    expect(await textOf(id)).toBe("Three");
  });

  test("changes neither itself nor another change", async () => {
    const id = await receive(ana, me, "One");
    const own = await edit(ana, me, id, "Two");
    await eventOf("message.edited", id);
    await isIgnored("cyclic", () => edit(ana, me, own, "Three", { secret: randomBytes(32) }));
    await isIgnored("cyclic", () => on.control.edit(ana, me, own, "Three"));
    await isIgnored("cyclic", () => on.control.edit(ana, me, "3A0SELF", "Three", { id: "3A0SELF" }));
    expect(await textOf(id)).toBe("Two");
    expect(await eventsOf("message.edited", own)).toEqual([]);
  });
});

describe("a change that arrives before its message", () => {
  const SECRET = randomBytes(32);

  test.each([
    ["an edit", (id: string) => on.control.edit(ana, me, id, "Latest", { at: Date.now() + 5_000 })],
    [
      "an encrypted edit",
      (id: string) => edit(ana, me, id, "Latest", { secret: SECRET, at: Date.now() + 5_000 }),
    ],
  ])("wins: %s, also after a restart of the connection", async (name, act) => {
    const id = `3A0EARLY${name.length}`;
    await act(id);
    await eventOf("message.edited", id);
    await on.control.end(me, 428);
    await on.control.sendMessage(ana, me, "First", { id, secret: SECRET });
    const { message } = await eventOf("message.received", id);
    expect(message.text).toBe("Latest");
    expect(await stored(id)).toMatchObject({ content: { text: "Latest" }, edited_at: expect.any(Date) });
  });

  test("wins: an option of a poll by another member, after an edit of the poll by its writer", async () => {
    const id = "3A0EARLYOPTION";
    const ask = (name: string) => ({ pollCreationMessageV3: { name, options: [{ optionName: "Yes" }] } });
    await change(bia, group, id, { kind: "poll_option", option: "No" }, { secret: SECRET, writer: ana });
    await change(ana, group, id, { kind: "raw", type: 4, message: ask("Lunch?") }, { secret: SECRET });
    await eventOf("message.edited", id, 2);
    await on.control.sendMessage(ana, group, { kind: "raw", message: ask("Luch?") }, { id, secret: SECRET });
    expect((await eventOf("message.received", id)).message.text).toBe("Lunch?\n1. Yes\n2. No");
    expect(await stored(id)).toMatchObject({ edited_at: expect.any(Date) });
  });

  const BY = {
    "its writer": () => [ana, ana, me],
    "an admin of the group": () => [ana, bia, group],
    "the own phone": () => [me, bia, group],
  } as const;

  test.each(Object.entries(BY))(
    "wins: a deletion by %s, and the message is in the log without an event",
    async (name, people) => {
      const [by = "", writer = "", chat = ""] = people();
      const id = `3A0EARLYDELETION${name.length}`;
      await on.control.delete(by, chat, id);
      await eventOf("message.deleted", id);
      await on.control.sendMessage(writer, chat, "Oops", { id });
      await receive(writer, chat, "after");
      expect(await stored(id)).toMatchObject({ deleted_at: expect.any(Date) });
      expect(await eventsOf("message.received", id)).toEqual([]);
    },
  );

  test("changes nothing if another member made it", async () => {
    const id = "3A0EARLYFOREIGN";
    await waitUntil(async () => (await rows("select 1 from group_chat where jid = $1", group)).length > 0);
    await on.control.edit(bia, group, id, "Forged");
    await on.control.delete(bia, group, id);
    await eventOf("message.deleted", id);
    await on.control.sendMessage(ana, group, "Mine", { id });
    expect((await eventOf("message.received", id)).message.text).toBe("Mine");
  });

  test("wins over the copy that is sent again because the first one could not be decrypted", async () => {
    await on.control.fault({ fault: "receipt_lost", from: bia });
    const id = await on.control.sendMessage(bia, me, "First", { corrupt: true });
    await waitUntil(async () => (await stored(id)) !== undefined);
    await edit(bia, me, id, "Latest", { at: Date.now() + 5_000 });
    expect(await eventOf("message.edited", id)).toMatchObject({ text: null, reason: "no_secret" });
    await on.control.sayAgain(bia, me, id);
    expect((await eventOf("message.received", id)).message.text).toBe("Latest");
  });
});

describe("a member of an announcement group", () => {
  test("reacts to a message of the instance, and comments on it", async () => {
    const { id, client } = on.instance;
    const sent = (await client.sendText({ id, number: group, text: "News" } as never)).data.message_id ?? "";
    await waitUntil(async () => (await on.control.message(ana, sent)) !== undefined);
    await change(ana, group, sent, { kind: "reaction", reaction: "❤️" });
    expect(await eventOf("message.reaction", sent)).toMatchObject({ reaction: "❤️", sender: { phone: ana } });
    await change(ana, group, sent, { kind: "reaction", reaction: "" });
    expect(await eventOf("message.reaction", sent, 2)).toMatchObject({ removed: true });
    const own = await change(ana, group, sent, { kind: "comment", text: "Good" });
    const { message } = await eventOf("message.received", own);
    expect(message).toMatchObject({ text: "Good", quoted: { id: sent, from_me: true, text: "News" } });
  });

  test("whose reaction or comment is under another secret changes nothing", async () => {
    const id = await receive(ana, group, "News");
    const secret = randomBytes(32);
    await isIgnored("undecryptable", () =>
      change(bia, group, id, { kind: "reaction", reaction: "❤️" }, { secret }),
    );
    let own = "";
    await isIgnored("undecryptable", async () => {
      own = await change(bia, group, id, { kind: "comment", text: "Good" }, { secret });
    });
    expect(await eventsOf("message.reaction", id)).toEqual([]);
    expect(await stored(own)).toBeUndefined();
  });
});

describe("a change that the instance makes", () => {
  /** The change on the wire, and what the person's phone shows. */
  async function shown(person: string, type: "edited" | "reaction", id: string, nth = 1) {
    const of = async () =>
      (await on.control.seen(person)).filter((one) => one.type === type && one.id === id) as Data[];
    await waitUntil(async () => (await of()).length >= nth);
    const { decryptions } = await on.control.ledger();
    return { ...(await of())[nth - 1], kind: decryptions.filter(({ by }) => by === person).at(-1)?.kind };
  }

  const react = (message_id: string, reaction: string) => {
    const { id, client } = on.instance;
    return client.react({ id, number: announcements, message_id, reaction } as never);
  };

  let announcements: string;

  beforeAll(async () => {
    const members = [ana, bia, me];
    announcements = (await on.control.addGroup("News", members, { isOfCommunity: true })).jid;
    await receive(bia, announcements, "Welcome");
  });

  test("in a community's announcement group is an encrypted reaction to its own or another's message", async () => {
    const { id, client } = on.instance;
    const theirs = await receive(bia, announcements, "Today");
    const own =
      (await client.sendText({ id, number: announcements, text: "Ours" } as never)).data.message_id ?? "";
    for (const one of [theirs, own]) {
      await react(one, "👍");
      expect(await shown(ana, "reaction", one)).toMatchObject({ reaction: "👍", kind: "encReactionMessage" });
      await react(one, "");
      expect(await shown(ana, "reaction", one, 2)).toMatchObject({
        reaction: "",
        kind: "encReactionMessage",
      });
    }
  });

  test("in a community's announcement group fails if the message came without a secret", async () => {
    const id = await on.control.sendMessage(bia, announcements, "Today", { secret: Buffer.alloc(0) });
    await eventOf("message.received", id);
    await expect(react(id, "👍")).rejects.toMatchObject({ message: expect.stringContaining("secret") });
  });

  test.each([
    ["encrypted while the account says so", true, "secretEncryptedMessage"],
    ["not encrypted otherwise", false, "protocolMessage"],
  ])("is an edit that is %s", async (_, isOn, kind) => {
    const { id, client } = on.instance;
    const prop = { tag: "prop", attrs: { config_code: "16057", config_value: isOn ? "1" : "0" } };
    const props = { tag: "props", attrs: {}, content: [prop] };
    await on.control.push(me, {
      tag: "iq",
      attrs: { type: "result", from: "s.whatsapp.net" },
      content: [props],
    });
    await receive(ana, me, "after the properties");
    for (const number of [ana, group]) {
      const { data } = await client.sendText({ id, number, text: "Helo" } as never);
      const message_id = data.message_id ?? "";
      await client.editMessage({ id, message_id, text: "Hello" });
      expect(await shown(ana, "edited", message_id)).toMatchObject({ text: "Hello", kind });
    }
  });
});

test("an anonymisation erases the secrets of the messages", async () => {
  const id = await receive(ana, me, "Private");
  expect((await stored(id))?.secret).toBeInstanceOf(Buffer);
  await on.gateway.owner.anonymizeData({ scope: "messages" } as never);
  await waitUntil(async () => (await stored(id))?.secret === null);
});

describe("a message of an unknown kind", () => {
  /** Field 199, whose sixth field is its text. */
  const PAYLOAD = Buffer.concat([Buffer.of(0xba, 0x0c, 14, 0x32, 12), Buffer.from("Come to ours")]);
  const later = LATER_FIELDS.get(122);

  afterAll(() => LATER_FIELDS.delete(199));

  const readAs = async (id: string) => {
    const [row] = await rows<{ type: string; text: string | null; raw: Buffer | null }>(
      "select type, content ->> 'text' as text, raw from message where instance_id = $1 and message_id = $2",
      on.instance.id,
      id,
    );
    return row;
  };

  test("is kept sealed and exported, and is read by a later version without another event", async () => {
    const id = await on.control.sendMessage(ana, me, { kind: "payload", bytes: PAYLOAD });
    await eventOf("message.received", id);
    const kept = await readAs(id);
    expect(kept).toMatchObject({ type: "unsupported", text: null, raw: expect.any(Buffer) });
    expect(kept?.raw?.includes(PAYLOAD)).toBe(false);
    const { data } = (await (await on.gateway.owner.exportData()).json()) as Data;
    const raws = data.messages.flatMap(({ raw }: Data) => raw ?? []);
    expect(raws).toEqual([PAYLOAD.toString("base64")]);

    LATER_FIELDS.set(199, later ?? expect.fail("The field is gone."));
    await on.control.end(me, 428);
    await waitUntil(async () => (await readAs(id))?.type === "text");
    expect(await readAs(id)).toEqual({ type: "text", text: "Come to ours", raw: null });
    expect(await eventsOf("message.received", id)).toHaveLength(1);
  });

  test("is not kept if it is longer than any text", async () => {
    const bytes = Buffer.concat([Buffer.of(0xba, 0x0c, 0x81, 0x80, 0x04), Buffer.alloc(65_537)]);
    const id = await on.control.sendMessage(ana, me, { kind: "payload", bytes });
    await eventOf("message.received", id);
    expect(await readAs(id)).toEqual({ type: "unsupported", text: null, raw: null });
  });
});
