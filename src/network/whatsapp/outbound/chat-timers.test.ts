import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { SAMPLE } from "../../../../test/sample-files.ts";
import type { PersonInfo } from "../../../../test/whatsapp-server/control.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content, Jid, MessageId } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

const DAY = 86_400;
const WEEK = 7 * DAY;

let stage: WhatsAppStage;
let listener: RecordingSession;
let ana: PersonInfo;
let me: string;
let newChats: Jid[];
let secrets: Map<string, string | undefined>;

// The stage fails at its end if a phone would warn that a message will not disappear.
beforeEach(async () => {
  stage = await startWhatsAppStage();
  const sent = new Map<string, Content>();
  newChats = [];
  secrets = new Map();
  listener = stage.open(
    {},
    {
      findSent: async (_, id) => sent.get(id),
      findOriginal: async (_, id) => {
        const [from_me, sender, secret] = [true, null, secrets.get(id)];
        return secret ? { from_me, sender, secret, unreadable: false, text: "", poll: null } : undefined;
      },
      isNewChat: async (chat) => {
        newChats.push(chat);
        return chat !== ana.jid;
      },
    },
  );
  ana = await stage.control.person(stage.contact.number);
  me = stage.phone.number;
  const { session } = listener;
  const send = session.send.bind(session);
  session.send = (to, content, options) => {
    sent.set(options.id, content);
    return send(to, content, options);
  };
});

afterEach(() => stage.stop());

async function send(to: Jid, content: Content): Promise<MessageId> {
  const id = newMessageId();
  const result = await listener.session.send(to, content, { id });
  expect(result).toMatchObject({ outcome: "accepted" });
  if (result.outcome === "accepted") secrets.set(id, result.secret);
  return id;
}

const text = (words: string): Content => ({ kind: "text", text: words });

/** The timer in a message on its recipient's phone. */
const timerOf = (phone: string, id: MessageId) =>
  eventually(async () => {
    const message = (await stage.control.message(phone, id)) ?? expect.fail("not yet");
    const whole = JSON.stringify(message);
    const [, expiration] = whole.match(/"expiration":(\d+)/) ?? [];
    const [, set_at] = whole.match(/"ephemeralSettingTimestamp":"(\d+)"/) ?? [];
    return expiration && [Number(expiration), set_at && Number(set_at)];
  });

const since = (set_at: number) => Math.floor(set_at / 1000);

describe("a chat whose messages disappear", () => {
  const set_at = Date.now() - 30 * DAY * 1000;

  beforeEach(async () => {
    await stage.control.setTimer(ana.phone, me, WEEK, { at: set_at });
    const messages = [{ id: "OLD", text: "long ago", at: set_at + 1000 }];
    await stage.control.settings({ history: [{ chat: ana.phone, messages }] });
  });

  const pair = async () => {
    await listener.pair(stage.phone);
    await listener.message("OLD" as MessageId);
  };

  it.each([
    ["protocolMessage", false],
    ["secretEncryptedMessage", true],
  ])(
    "has its timer in messages of every kind, in resends, and in edits by %s",
    async (kind, encryptedEdits) => {
      await stage.control.settings({ encryptedEdits });
      await pair();
      const media = {
        kind: "media",
        mime_type: "image/png",
        size: SAMPLE.png.length,
        bytes: SAMPLE.png,
      } as const;
      const quoted = { id: "OLD" as MessageId, from_me: false, sender: ana.jid as Jid, text: "long ago" };
      const contents: Content[] = [
        text("Hello"),
        { ...text("Yes"), quoted },
        { ...media, media_type: "image", caption: "Look" },
        { ...media, media_type: "sticker", mime_type: "image/webp" },
        { ...media, media_type: "document", file_name: "a.png", caption: "Look" },
        { kind: "location", latitude: 1, longitude: 2 },
        { kind: "contact", name: "Bia", phone: "5511999990001" },
      ];
      const timer = [WEEK, since(set_at)];
      const ids: MessageId[] = [];
      for (const content of contents) ids.push(await send(ana.jid as Jid, content));
      for (const id of ids) expect(await timerOf(ana.phone, id)).toEqual(timer);
      const target = { chat: ana.jid as Jid, id: ids[0] as MessageId, from_me: true };
      const edit = newMessageId();
      await listener.session.edit?.(target, "Hello!", { id: edit });
      expect(await timerOf(ana.phone, edit)).toEqual(timer);
      const { decryptions } = await stage.control.ledger();
      expect(decryptions.findLast(({ by }) => by === ana.phone)).toMatchObject({ kind });
      const reaction = newMessageId();
      await listener.session.react?.(target, "👍", { id: reaction });
      expect(await timerOf(ana.phone, reaction)).toBeUndefined();
      await stage.control.requestRetry(ana.phone, target.id);
      await eventually(async () => expect(await stage.control.arrivals(target.id)).toBe(2));
    },
  );

  it("has the last timer, set by either side or carried only by a message, also after a kill", async () => {
    await pair();
    const { control } = stage;
    const first = await send(ana.jid as Jid, text("Hello"));
    await timerOf(ana.phone, first);
    const reported = async (by: string, to: string) => {
      const before = listener.all("message_reaction").length;
      await control.react(by, to, first, "👍");
      await listener.waitForEvent("message_reaction", before + 1);
    };
    await control.setTimer(ana.phone, me, DAY);
    await reported(ana.phone, me);
    expect(await timerOf(ana.phone, await send(ana.jid as Jid, text("A")))).toEqual([
      DAY,
      expect.any(Number),
    ]);
    await control.setTimer(me, ana.phone, 90 * DAY);
    await reported(me, ana.phone);
    expect((await timerOf(ana.phone, await send(ana.jid as Jid, text("B"))))?.[0]).toBe(90 * DAY);
    const later = Date.now() + 60_000;
    await control.setTimer(ana.phone, me, WEEK, { silently: true, at: later });
    await listener.message((await control.sendMessage(ana.phone, me, "Hi")) as MessageId);
    stage.abandon(listener);
    const { credentials } = listener;
    listener = stage.open({}, { credentials });
    listener.session.connect();
    await listener.waitForEvent("connected");
    expect(await timerOf(ana.phone, await send(ana.jid as Jid, text("C")))).toEqual([WEEK, since(later)]);
    await control.setTimer(ana.phone, me, 0, { at: later });
    await reported(ana.phone, me);
    expect(await timerOf(ana.phone, await send(ana.jid as Jid, text("D")))).toBeUndefined();
  });
});

it("a group states its timer, and its notifications state since when it applies", async () => {
  const { control } = stage;
  const members = [ana.phone, me];
  const old = (await control.addGroup("Team", members)).jid as Jid;
  await control.changeGroup(ana.phone, old, { change: "ephemeral", seconds: DAY });
  await listener.pair(stage.phone);
  expect(await timerOf(ana.phone, await send(old, text("A")))).toEqual([DAY, undefined]);
  const changed = listener.all("group_updated").length;
  await control.changeGroup(ana.phone, old, { change: "ephemeral", seconds: WEEK });
  await listener.waitForEvent("group_updated", changed + 1);
  expect(await timerOf(ana.phone, await send(old, text("B")))).toEqual([WEEK, expect.any(Number)]);
  await control.changeGroup(ana.phone, old, { change: "ephemeral", seconds: 0 });
  await listener.waitForEvent("group_updated", changed + 2);
  expect(await timerOf(ana.phone, await send(old, text("C")))).toBeUndefined();
  expect(newChats).toEqual([]);
});

it.each(["before", "after"])(
  "the account's default timer, set %s the pairing, applies to chats that begin with a message of ours, and only to them",
  async (when) => {
    const { control } = stage;
    const now = Date.now();
    if (when === "before") await control.setDefaultTimer(me, DAY, now);
    await listener.pair(stage.phone);
    if (when === "after") await control.setDefaultTimer(me, DAY, now);
    await eventually(async () => expect(await control.waiting(me)).toBe(0));
    const bia = await control.addPerson();
    // A new contact's phone takes the timer from the first message.
    await control.setTimer(bia.phone, me, DAY, { silently: true, at: now });
    await listener.message((await control.sendMessage(ana.phone, me, "Hi")) as MessageId);
    for (const word of ["A", "B"]) {
      expect(await timerOf(bia.phone, await send(bia.jid as Jid, text(word)))).toEqual([DAY, since(now)]);
      expect(await timerOf(ana.phone, await send(ana.jid as Jid, text(word)))).toBeUndefined();
    }
    expect(newChats).toEqual([bia.jid, ana.jid]);
  },
);

it("values that no app sends set no timer", async () => {
  await listener.pair(stage.phone);
  const say = async (contextInfo: object) => {
    const message = { extendedTextMessage: { text: "Hi", contextInfo } };
    const id = await stage.control.sendMessage(ana.phone, me, { kind: "raw", message });
    await listener.message(id as MessageId);
  };
  const now = since(Date.now());
  await say({ expiration: 4_294_967_295, ephemeralSettingTimestamp: now });
  await say({ expiration: DAY, ephemeralSettingTimestamp: now + 2 * DAY });
  expect(await timerOf(ana.phone, await send(ana.jid as Jid, text("A")))).toBeUndefined();
});
