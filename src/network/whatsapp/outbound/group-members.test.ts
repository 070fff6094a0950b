import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import type { PersonInfo } from "../../../../test/whatsapp-server/control.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content, Jid, MessageId } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

type Plain = Record<string, unknown>;

let stage: WhatsAppStage;
let listener: RecordingSession;
let ana: PersonInfo;
let me: PersonInfo;
/** Sent messages, for recipients that request them again. */
const sent = new Map<string, Content>();

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open({}, { findSent: async (_, id) => sent.get(id) });
  await listener.pair(stage.phone);
  ana = await stage.control.person(stage.contact.number);
  me = await stage.control.person(stage.phone.number);
});

afterAll(() => stage.stop());

const groupOf = async (addressing: "lid" | "pn"): Promise<Jid> =>
  (await stage.control.addGroup("Team", [ana.phone, me.phone], { addressing })).jid as Jid;

async function send(to: Jid, content: Content): Promise<MessageId> {
  const id = newMessageId();
  sent.set(id, content);
  expect(await listener.session.send(to, content, { id })).toMatchObject({ outcome: "accepted" });
  return id;
}

/** The message as Ana's phone received it. */
const received = (id: string): Promise<Plain> =>
  eventually(async () => {
    const message = await stage.control.message(ana.phone, id);
    if (!message) throw new Error("It has not come yet.");
    return message;
  });

describe.each(["lid", "pn"] as const)("in a group that names its members by %s", (addressing) => {
  const nameOf = ({ jid, lid }: PersonInfo) => (addressing === "lid" ? lid : jid);
  let group: Jid;
  let said: MessageId;

  beforeEach(async () => {
    group = await groupOf(addressing);
    said = (await stage.control.sendMessage(ana.phone, group, "Who comes?")) as MessageId;
    await listener.message(said);
  });

  it("a reply and its mentions use that address, also in the text and when it is sent again", async () => {
    const quoted = { id: said, from_me: false, sender: ana.jid as Jid, text: "Who comes?" };
    const id = await send(group, {
      kind: "text",
      text: `@${ana.phone} and @551100 do, ana@${ana.phone}1`,
      quoted,
      mentions: [ana.jid as Jid],
    });
    const name = nameOf(ana);
    const wire = {
      extendedTextMessage: {
        text: `@${name.split("@")[0]} and @551100 do, ana@${ana.phone}1`,
        contextInfo: { stanzaId: said, participant: name, mentionedJid: [name] },
      },
    };
    expect(await received(id)).toMatchObject(wire);
    await stage.control.requestRetry(ana.phone, id);
    await eventually(async () => expect(await stage.control.arrivals(id)).toBe(2));
    expect(await received(id)).toMatchObject(wire);
  });

  it("a reply to an own message uses that address for the instance", async () => {
    const quoted = { id: newMessageId(), from_me: true, text: "Me" };
    const id = await send(group, { kind: "text", text: "As I said", quoted });
    expect(await received(id)).toMatchObject({
      extendedTextMessage: { contextInfo: { participant: nameOf(me) } },
    });
  });

  it("a reaction and a read mark use that address for the author", async () => {
    const target = { chat: group, id: said, from_me: false, sender: ana.jid as Jid };
    const id = newMessageId();
    expect(await listener.session.react?.(target, "👍", { id })).toMatchObject({ outcome: "accepted" });
    expect(await received(id)).toMatchObject({ reactionMessage: { key: { participant: nameOf(ana) } } });
    expect(await listener.session.markRead?.(group, [target])).toMatchObject({ outcome: "accepted" });
    await eventually(async () => {
      const { receipts } = await stage.control.ledger();
      expect(receipts.filter(({ type, to }) => type === "read" && to === group)).toMatchObject([
        { to: group, participant: nameOf(ana), ids: [said] },
      ]);
    });
  });

  it("a deletion by an admin uses that address for the author", async () => {
    const target = { chat: group, id: said, from_me: false, sender: ana.jid as Jid };
    const id = newMessageId();
    expect(await listener.session.deleteForEveryone?.(target, { id })).toMatchObject({ outcome: "accepted" });
    expect(await received(id)).toMatchObject({ protocolMessage: { key: { participant: nameOf(ana) } } });
  });

  it("an inbound mention is reported with the phone and with the text's name for the member", async () => {
    const name = nameOf(me);
    const text = `@${name.split("@")[0]} you come?`;
    const id = await stage.control.sendMessage(ana.phone, group, { kind: "text", text, mentions: [name] });
    const { content } = await listener.message(id as MessageId);
    expect(content).toMatchObject({
      text,
      mentions: [me.jid],
      mentioned: [{ jid: me.jid, lid: me.lid, phone: me.phone }],
    });
  });

  it("an edit uses that address for the mentioned members, also in the text", async () => {
    const mentions = [ana.jid as Jid];
    const id = await send(group, { kind: "text", text: `@${ana.phone}, come`, mentions });
    const edit = { id: newMessageId(), mentions };
    const target = { chat: group, id, from_me: true };
    expect(await listener.session.edit?.(target, `@${ana.phone}, stay`, edit)).toMatchObject({
      outcome: "accepted",
    });
    const name = nameOf(ana);
    expect(await received(edit.id)).toMatchObject({
      protocolMessage: {
        editedMessage: {
          extendedTextMessage: {
            text: `@${name.split("@")[0]}, stay`,
            contextInfo: { mentionedJid: [name] },
          },
        },
      },
    });
  });

  it("receipts show which member has received and read a message, even when combined", async () => {
    const id = await send(group, { kind: "text", text: "Lunch?" });
    const member = { jid: ana.jid, lid: ana.lid, phone: ana.phone };
    const statuses = () => listener.all("message_status").filter(({ chat }) => chat === group);
    const statusOf = (nth: number) => eventually(() => statuses()[nth - 1] ?? expect.fail("not yet"));
    expect(await statusOf(1)).toMatchObject({
      chat: group,
      ids: [id],
      from_me: true,
      status: "delivered",
      participant: member,
    });
    await stage.control.push(stage.phone.number, {
      tag: "receipt",
      attrs: { from: group, id: "grouped", type: "read", t: "1795262400" },
      content: [
        {
          tag: "participants",
          attrs: { key: id },
          content: [ana, me].map((one) => ({
            tag: "user",
            attrs: { jid: nameOf(one), t: "1795262400" },
          })),
        },
      ],
    });
    expect(await statusOf(2)).toMatchObject({
      chat: group,
      ids: [id],
      from_me: true,
      status: "read",
      participant: member,
      at: new Date(1795262400_000),
    });
    expect(statuses()).toHaveLength(2);
  });

  it("no key message goes to the sending device", async () => {
    await send(group, { kind: "text", text: "one" });
    await send(group, { kind: "text", text: "two" });
    expect(await stage.control.unhandled()).toEqual([]);
    await eventually(async () => {
      const texts = (await stage.control.seen(ana.phone)).flatMap((one) =>
        one.type === "message" && one.content.kind === "text" && one.chat === group ? [one.content.text] : [],
      );
      expect(texts).toEqual(["one", "two"]);
    });
  });
});

it("an inbound mention of an unknown member is reported with the phone from the member list", async () => {
  const bia = await stage.control.addPerson({ name: "Bia" });
  const { jid } = await stage.control.addGroup("Team", [ana.phone, me.phone, bia.phone], {
    addressing: "lid",
  });
  const text = `@${bia.lid.split("@")[0]} comes`;
  const say = async () => {
    const id = await stage.control.sendMessage(ana.phone, jid, { kind: "text", text, mentions: [bia.lid] });
    return (await listener.message(id as MessageId)).content;
  };
  await listener.session.groups?.get(jid as Jid);
  expect(await say()).toMatchObject({
    mentions: [bia.jid],
    mentioned: [{ jid: bia.jid, lid: bia.lid, phone: bia.phone }],
  });
});
