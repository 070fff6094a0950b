import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../../test/conformance/listener.ts";
import { startWhatsAppStage, storeInMemory, type WhatsAppStage } from "../../../../../test/whatsapp-stage.ts";
import type { MessageId } from "../../../driver.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;
let credentials: ReturnType<typeof storeInMemory>;
let unknown: string[];
/** Messages that a device requested again. */
let lookedUp: string[];

beforeEach(async () => {
  stage = await startWhatsAppStage();
  credentials = storeInMemory();
  unknown = [];
  lookedUp = [];
  const findSent = async (_: string, id: MessageId) => void lookedUp.push(id);
  const onUnknownStanza = (kind: string, times = 1) => unknown.push(...Array<string>(times).fill(kind));
  listener = stage.open({ onUnknownStanza }, { credentials, findSent });
  await listener.pair(stage.phone);
});

afterEach(() => stage.stop());

const ledger = () => stage.control.ledger();
const say = async (text = "Oi", corrupt = false) =>
  (await stage.control.sendMessage(stage.contact.number, stage.phone.number, text, { corrupt })) as MessageId;
const post = (stanza: "message" | "status", corrupt: boolean) =>
  stage.control.postStatus(stage.contact.number, stage.phone.number, "Today", { stanza, corrupt });

/** Resolves once everything sent before is handled. */
const receiveAfterwards = async () => listener.message(await say());

const ackOf = (id: string) =>
  eventually(async () => {
    const found = (await ledger()).acks.filter((one) => one.id === id);
    expect(found).toHaveLength(1);
    return found[0];
  });

describe("a story", () => {
  it.each(["message", "status"] as const)(
    "is acknowledged as the stanza <%s> that brought it, and not asked for again if it cannot be decrypted",
    async (stanza) => {
      for (const id of [await post(stanza, true), await post(stanza, false)]) {
        expect(await ackOf(id)).toMatchObject({
          class: stanza,
          to: "status@broadcast",
          participant: expect.stringContaining("@lid"),
          error: undefined,
        });
      }
      await receiveAfterwards();
      expect((await ledger()).receipts.filter(({ type }) => type === "retry")).toEqual([]);
      expect(listener.all("message")).toHaveLength(1);
      await eventually(() =>
        expect([...credentials.entries.values()].filter(({ body }) => body.includes("@broadcast"))).toEqual(
          [],
        ),
      );
    },
  );

  it("does not freeze the messages behind it, although it cannot be decrypted", async () => {
    const story = await post("message", true);
    await ackOf(story);
    await listener.session.disconnect();
    const ids = [await say("one"), await say("two"), await say("three")];
    const after = stage.open({}, { credentials });
    after.session.connect();
    for (const id of ids) await after.message(id);
  });
});

describe("a message that cannot be decrypted", () => {
  it("is requested again and acknowledged, and its readable copy arrives", async () => {
    const id = await say("Oi", true);
    expect(await ackOf(id)).toMatchObject({ class: "message", error: undefined });
    const { receipts } = await ledger();
    expect(receipts.filter(({ ids, type }) => ids.includes(id) && type === "retry")).toHaveLength(1);
    await eventually(() => {
      const copies = listener.all("message").filter(({ message }) => message.id === id);
      expect(copies.map(({ message: { content } }) => content.kind)).toEqual(["unsupported", "text"]);
    });
  });
});

describe("a request to send messages again", () => {
  it.each(["direct", "group"])("of a %s chat looks for the first 32 that it names", async (kind) => {
    const { contact, phone, control } = stage;
    const { jid } = kind === "group" ? await control.addGroup("Team", [contact.number, phone.number]) : {};
    const device = `${contact.number}@s.whatsapp.net`;
    const items = Array.from({ length: 1_000 }, (_, nth) => ({ tag: "item", attrs: { id: `OTHER${nth}` } }));
    await control.push(phone.number, {
      tag: "receipt",
      attrs: { from: jid ?? device, ...(jid && { participant: device }), id: "FIRST", type: "retry", t: "1" },
      content: [
        { tag: "list", attrs: {}, content: items },
        { tag: "retry", attrs: { count: "1", id: "FIRST", t: "1", v: "1" } },
      ],
    });
    await ackOf("FIRST");
    await eventually(() => expect(lookedUp).toHaveLength(32));
    await receiveAfterwards();
    expect(lookedUp).toEqual(["FIRST", ...items.slice(0, 31).map(({ attrs }) => attrs.id)]);
    expect(unknown).toEqual(Array(1_001 - 32).fill("retry"));
  });
});

describe("a stanza of an unknown kind", () => {
  it("is acknowledged and counted if it has an id", async () => {
    const attrs = { from: "s.whatsapp.net", id: "novelty-1", type: "new" };
    await stage.control.push(stage.phone.number, { tag: "novelty", attrs });
    await stage.control.push(stage.phone.number, { tag: "novelty", attrs: { from: "s.whatsapp.net" } });
    expect(await ackOf("novelty-1")).toMatchObject({
      class: "novelty",
      to: "s.whatsapp.net",
      type: "new",
      error: undefined,
    });
    await receiveAfterwards();
    expect(unknown).toEqual(["novelty"]);
  });

  it.each([
    ["a ping is answered with a result", "get", "urn:xmpp:ping", "ping-1", "result", undefined],
    ["a ping without an id is answered with a result", "get", "urn:xmpp:ping", "", "result", undefined],
    ["a question that nothing answers is refused", "get", "w:novelty", "query-1", "error", "501"],
    ["an order that nothing carries out is refused", "set", "w:novelty", "query-1", "error", "501"],
  ])("is counted too if it is a query: %s", async (_, type, xmlns, id, answer, error) => {
    const attrs = { from: "s.whatsapp.net", type, xmlns, ...(id && { id }) };
    await stage.control.push(stage.phone.number, { tag: "iq", attrs });
    expect(await ackOf(id)).toMatchObject({ class: "iq", to: "s.whatsapp.net", type: answer, error });
    await receiveAfterwards();
    expect(unknown).toEqual(["iq"]);
  });

  it("is counted each time, also when more come than acknowledgements may be pending", async () => {
    const times = 1_500;
    for (let nth = 0; nth < times; nth++) {
      const attrs = { from: "s.whatsapp.net", id: `novelty-${nth}` };
      await stage.control.push(stage.phone.number, { tag: "novelty", attrs });
    }
    await receiveAfterwards();
    expect(unknown).toHaveLength(times);
    expect((await ledger()).acks.filter((one) => one.class === "novelty").length).toBeGreaterThanOrEqual(
      1_000,
    );
  });
});

describe("the receipt of a message", () => {
  it.each(["867051314767696@bot", "5511900000001@hosted", "123456789@hosted.lid"])(
    "that the own phone sends to %s goes to the phone and names that chat",
    async (recipient) => {
      const { phone, contact, control } = stage;
      const id = await control.sendMessage(phone.number, contact.number, "Oi", { attrs: { recipient } });
      const receipt = await eventually(async () => {
        const found = (await ledger()).receipts.find(({ ids }) => ids.includes(id));
        expect(found).toBeDefined();
        return found;
      });
      const { lid } = await control.person(phone.number);
      expect(receipt).toMatchObject({ to: lid, recipient, type: "sender" });
    },
  );

  it("to a broadcast list goes to the list and names its writer", async () => {
    const { lid: participant } = await stage.control.person(stage.contact.number);
    const attrs = { from: "1700000000@broadcast", participant };
    const { number } = stage.contact;
    const id = await stage.control.sendMessage(number, stage.phone.number, "Oi", { attrs });
    await eventually(async () =>
      expect((await ledger()).receipts.find(({ ids }) => ids.includes(id))).toMatchObject({
        to: "1700000000@broadcast",
        participant,
      }),
    );
  });

  it.each([
    ["a channel", "120363000000000001@newsletter", {}, "plaintext", []],
    ["a bot", "867051314767696@bot", {}, "plaintext", ["message"]],
    ["a bot in a chat", "5511900000001@s.whatsapp.net", {}, "enc", ["message"]],
    [
      "a person, for somebody else",
      "5511900000001@s.whatsapp.net",
      { recipient: "5511900000002@s.whatsapp.net" },
      "plaintext",
      ["message"],
    ],
  ])(
    "from %s is an acknowledgement without an error, to where it came from",
    async (_, from, more, tag, counted) => {
      const id = "MESSAGE1";
      const attrs = { ...more, from, id, type: "text", t: "1795000000" };
      const content = [{ tag, attrs: { type: "msmsg" }, content: Buffer.from("0a024f69", "hex") }];
      await stage.control.push(stage.phone.number, { tag: "message", attrs, content });
      expect(await ackOf(id)).toMatchObject({ class: "message", to: from, error: undefined });
      expect(unknown).toEqual(counted);
    },
  );
});
