import { randomBytes } from "node:crypto";
import { proto } from "baileys";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { downloadWhole, eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import type { NewServerPerson, PersonInfo } from "../../../../test/whatsapp-server/control.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content, Jid, MediaContent, MessageId, MessageRef, SendResult, Session } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";
import { parseCredentials } from "../keys/baileys-credentials.ts";

let stage: WhatsAppStage;
let ana: PersonInfo;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  ana = await stage.control.person(stage.contact.number);
});

afterAll(() => stage.stop());

interface Account {
  me: PersonInfo;
  listener: RecordingSession;
  session: Required<Session>;
}

/** A linked account whose first sync is complete. */
async function link(options: NewServerPerson, scan: { forge?: "props" } = {}): Promise<Account> {
  const me = await stage.control.addPerson(options);
  const listener = stage.open({}, { findSent: async () => text("again") });
  await listener.pair({ scan: (qr) => stage.control.scan(me.phone, qr, scan) });
  await settle(me, listener);
  return { me, listener, session: listener.session as Required<Session> };
}

const settle = (me: PersonInfo, listener: RecordingSession): Promise<void> =>
  eventually(async () => {
    expect(await stage.control.waiting(me.phone)).toBe(0);
    const stored = parseCredentials((await listener.credentials.load()) ?? new Uint8Array());
    expect(stored.contactTokenSalt).toBeDefined();
  });

const text = (words: string): Content => ({ kind: "text", text: words });

const send = (
  { session }: Account,
  to: Pick<PersonInfo, "jid"> = ana,
  content = text("Hi"),
  id = newMessageId(),
): Promise<SendResult> => session.send(to.jid as Jid, content, { id });

/** Addresses and acks of the account's messages. */
async function arrivals({ me }: Account) {
  const { arrivals } = await stage.control.ledger();
  return arrivals.filter(({ phone }) => phone === me.phone).map(({ to, ack }) => ({ to, ack }));
}

/** The message as Ana's phone received it. */
const received = (id: string): Promise<Record<string, unknown>> =>
  eventually(async () => {
    const message = await stage.control.message(ana.phone, id);
    return message ?? expect.fail("It has not come yet.");
  });

describe("a file that the network no longer has", () => {
  it.each([
    ["LID by a migrated account", true],
    ["number by an account that is not migrated", false],
  ])("is asked for again at the %s, however its message was addressed", async (_, migrated) => {
    const { me, listener, session } = await link({ migrated });
    const bytes = randomBytes(100);
    const file = { kind: "media", media_type: "document", mime_type: "text/plain", bytes } as const;
    for (const addressing of ["lid", "pn"] as const) {
      const id = await stage.control.sendMessage(ana.phone, me.phone, file, { addressing });
      const { content } = await listener.message(id as MessageId);
      await stage.control.expireMedia();
      expect(await downloadWhole(session, (content as MediaContent).ref)).toEqual(bytes);
    }
  });
});

describe("a migrated account", () => {
  const LESSONS: [string, NewServerPerson["migrated"], (account: Account) => Promise<unknown>][] = [
    ["at the pairing", true, async () => {}],
    ["by a property at a login", false, ({ me }) => migrateAndReconnect(me)],
    ["by a message of its phone", false, ({ me }) => stage.control.migrate(me.phone, "push")],
    ["by a history of its phone", false, ({ me }) => stage.control.migrate(me.phone, "history")],
    ["when it is refused at a number", "unannounced", (account) => send(account)],
  ];

  const migrateAndReconnect = async (me: PersonInfo) => {
    await stage.control.migrate(me.phone, "props");
    await stage.control.end(me.phone, 428);
  };

  it.each(LESSONS)("learns it %s, and knows it after a restart", async (_, migrated, learn) => {
    const account = await link({ migrated });
    await learn(account);
    await eventually(async () => {
      const stored = parseCredentials((await account.listener.credentials.load()) ?? new Uint8Array());
      expect(stored.isLidMigrated).toBe(true);
    });
    await account.session.disconnect();
    const listener = stage.open({}, { credentials: account.listener.credentials });
    listener.session.connect();
    await listener.waitForEvent("connected");
    const before = (await arrivals(account)).length;
    await send({ ...account, session: listener.session as Required<Session> });
    expect((await arrivals(account)).slice(before)).toEqual([{ to: ana.lid, ack: "ok" }]);
  });

  it("that is not announced as migrated is refused once, and the message arrives under its id", async () => {
    const account = await link({ migrated: "unannounced" });
    const id = newMessageId();
    expect(await send(account, ana, text("Hi"), id)).toMatchObject({ outcome: "accepted" });
    expect(await arrivals(account)).toEqual([
      { to: ana.jid, ack: 463 },
      { to: ana.lid, ack: "ok" },
    ]);
    await received(id);
  });

  describe("that writes to a person", () => {
    let account: Account;
    let said: MessageRef;

    beforeAll(async () => {
      account = await link({});
    });

    beforeEach(async () => {
      const id = (await stage.control.sendMessage(ana.phone, account.me.phone, "Who comes?")) as MessageId;
      await account.listener.message(id);
      said = { chat: ana.jid as Jid, id, from_me: false };
    });

    it("sends, replies, edits, reacts and deletes at the LID, under keys of the LID", async () => {
      const { session } = account;
      const quoted = { id: said.id, from_me: false, sender: ana.jid as Jid, text: "Who comes?" };
      const reply = newMessageId();
      await send(account, ana, { kind: "text", text: "I do", quoted }, reply);
      expect(await received(reply)).toMatchObject({
        extendedTextMessage: { contextInfo: { stanzaId: said.id, participant: ana.lid } },
      });
      const own = { chat: ana.jid as Jid, id: reply, from_me: true };
      const key = { remoteJid: ana.lid };
      const [edit, reaction, deletion] = [newMessageId(), newMessageId(), newMessageId()];
      await session.edit(own, "I do not", { id: edit });
      expect(await received(edit)).toMatchObject({ protocolMessage: { key } });
      await session.react(said, "👍", { id: reaction });
      expect(await received(reaction)).toMatchObject({ reactionMessage: { key } });
      await session.deleteForEveryone(own, { id: deletion });
      expect(await received(deletion)).toMatchObject({ protocolMessage: { key } });
      for (const { to, ack } of await arrivals(account)) expect([to, ack]).toEqual([ana.lid, "ok"]);
    });

    it("types and marks as read at the LID", async () => {
      const { session, me } = account;
      expect(await session.setPresence("typing", ana.jid as Jid)).toMatchObject({ outcome: "accepted" });
      expect(await session.markRead(ana.jid as Jid, [said])).toMatchObject({ outcome: "accepted" });
      await eventually(async () => {
        const { receipts } = await stage.control.ledger();
        const read = receipts.filter(({ phone, type }) => phone === me.phone && type === "read");
        expect(read.at(-1)).toMatchObject({ to: ana.lid, ids: [said.id] });
        const seen = await stage.control.seen(ana.phone);
        expect(seen).toContainEqual(expect.objectContaining({ type: "presence", from: me.phone }));
      });
    });

    it("still reports the phone as the chat", async () => {
      const id = newMessageId();
      await send(account, ana, text("Hi"), id);
      await eventually(() =>
        expect(account.listener.all("message_status")).toContainEqual(
          expect.objectContaining({ chat: ana.jid, ids: [id], status: "delivered" }),
        ),
      );
    });

    it.each(["lid", "pn"] as const)(
      "sends again at the LID what could not be read, though the request names the person by %s",
      async (addressing) => {
        const id = newMessageId();
        await send(account, ana, text("Hi"), id);
        await received(id);
        await stage.control.requestRetry(ana.phone, id, { addressing });
        await eventually(async () => expect(await stage.control.arrivals(id)).toBe(2));
        expect((await arrivals(account)).at(-1)).toEqual({ to: ana.lid, ack: "ok" });
      },
    );

    it("sends again at the LID what a linked device could not read, which names itself by number", async () => {
      const { me: bia, listener } = await link({});
      const id = newMessageId();
      await send(account, bia, text("Hi"), id);
      await listener.message(id);
      const device = (await stage.control.person(bia.phone)).devices[0]?.number;
      await stage.control.push(account.me.phone, {
        tag: "receipt",
        attrs: { from: `${bia.phone}:${device}@s.whatsapp.net`, id, type: "retry", t: "1" },
        content: [{ tag: "retry", attrs: { count: "1", id, t: "1", v: "1" } }],
      });
      await eventually(async () => expect(await stage.control.arrivals(id)).toBe(2));
      const to = bia.lid.replace("@", `:${device}@`);
      expect((await arrivals(account)).at(-1)).toEqual({ to, ack: "ok" });
    });

    it("is refused a send to a number that does not exist", async () => {
      expect(await send(account, { jid: stage.unregisteredJid })).toMatchObject({
        outcome: "refused",
        code: "RECIPIENT_NOT_FOUND",
      });
    });
  });
});

describe("an account that is not migrated", () => {
  it("reaches migrated people at their numbers", async () => {
    const account = await link({ migrated: false });
    const id = newMessageId();
    expect(await send(account, ana, text("Hi"), id)).toMatchObject({ outcome: "accepted" });
    expect(await arrivals(account)).toEqual([{ to: ana.jid, ack: "ok" }]);
    await received(id);
  });

  it("goes back to the number when its phone is wrong about it, and to the LID once it is migrated", async () => {
    const account = await link({ migrated: "falsely" });
    const sendTwice = async () => {
      for (const _ of ["first", "second"]) expect(await send(account)).toMatchObject({ outcome: "accepted" });
    };
    await sendTwice();
    await stage.control.migrate(account.me.phone, "push");
    await sendTwice();
    expect(await arrivals(account)).toEqual([
      { to: ana.lid, ack: 400 },
      { to: ana.jid, ack: "ok" },
      { to: ana.jid, ack: "ok" },
      { to: ana.jid, ack: 463 },
      { to: ana.lid, ack: "ok" },
      { to: ana.lid, ack: "ok" },
    ]);
  });

  it("that is refused with 463 at the LID is delivered to the number, also for the next message", async () => {
    const account = await link({ migrated: "falsely" });
    await stage.control.fault({ fault: "ack_error", phone: account.me.phone, error: 463 });
    for (const _ of ["first", "second"]) expect(await send(account)).toMatchObject({ outcome: "accepted" });
    expect(await arrivals(account)).toEqual([
      { to: ana.lid, ack: 463 },
      { to: ana.jid, ack: "ok" },
      { to: ana.jid, ack: "ok" },
    ]);
  });

  it("does not believe a stranger that it is migrated", async () => {
    const account = await link({ migrated: false });
    const encodedMappingPayload = proto.LIDMigrationMappingSyncPayload.encode({
      pnToLidMappings: [],
      chatDbMigrationTimestamp: 1_790_000_000,
    }).finish();
    const { LID_MIGRATION_MAPPING_SYNC: type } = proto.Message.ProtocolMessage.Type;
    const message = { protocolMessage: { type, lidMigrationMappingSyncMessage: { encodedMappingPayload } } };
    await stage.control.sendMessage(
      ana.phone,
      account.me.phone,
      { kind: "raw", message },
      { attrs: { category: "peer" } },
    );
    await account.listener.message(
      (await stage.control.sendMessage(ana.phone, account.me.phone, "Hi")) as MessageId,
    );
    expect(await send(account)).toMatchObject({ outcome: "accepted" });
    expect(await arrivals(account)).toEqual([{ to: ana.jid, ack: "ok" }]);
  });

  it("is linked as such when its phone's announcement is unreadable", async () => {
    const account = await link({ migrated: false }, { forge: "props" });
    expect(await send(account)).toMatchObject({ outcome: "accepted" });
    expect(await arrivals(account)).toEqual([{ to: ana.jid, ack: "ok" }]);
  });
});

describe("a message that no device of its recipient could read", () => {
  it.each([true, false])("fails and is not sent, if migrated is %s", async (migrated) => {
    const account = await link({ migrated });
    const bia = await stage.control.addPerson({ deviceless: true });
    const group = await stage.control.addGroup("Team", [account.me.phone, bia.phone]);
    for (const to of [bia, group]) {
      expect(await send(account, to)).toMatchObject({
        outcome: "refused",
        code: "SEND_FAILED",
        reason: expect.stringContaining("no device"),
      });
    }
    expect(await arrivals(account)).toEqual([]);
  });
});

describe("a group message", () => {
  it("reaches the members who have its key, though a new one's device has none to encrypt for", async () => {
    const account = await link({});
    const bia = await stage.control.addPerson({});
    const team = await stage.control.addGroup("Team", [ana.phone, account.me.phone]);
    expect(await send(account, team)).toMatchObject({ outcome: "accepted" });
    await stage.control.fault({ fault: "forged_prekeys", of: bia.phone, times: 100 });
    await stage.control.changeGroup(ana.phone, team.jid, { change: "add", members: [bia.phone] });
    await account.listener.waitForEvent("group_updated");
    for (const words of ["first", "second"]) {
      const id = newMessageId();
      expect(await send(account, team, text(words), id)).toMatchObject({ outcome: "accepted" });
      expect(JSON.stringify(await received(id))).toContain(words);
    }
    await stage.control.clearFaults();
  });
});

describe("a group message that could be encrypted for own devices only", () => {
  it("fails each time, and is sent once a member's device has a right key", async () => {
    const account = await link({});
    const bia = await stage.control.addPerson({});
    const group = await stage.control.addGroup("Team", [account.me.phone, bia.phone]);
    await stage.control.fault({ fault: "forged_prekeys", of: bia.phone, times: 100 });
    for (const _ of ["first", "second"])
      expect(await send(account, group)).toMatchObject({ outcome: "refused", code: "SEND_FAILED" });
    expect(await arrivals(account)).toEqual([]);
    await stage.control.clearFaults();
    expect(await send(account, group)).toMatchObject({ outcome: "accepted" });
  });
});

describe("an account that may not start new chats", () => {
  it("learns until when, and tries no other address", async () => {
    const account = await link({});
    const until = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000);
    await stage.control.restrictNewChats(account.me.phone, until.getTime());
    expect(await send(account)).toMatchObject({
      outcome: "refused",
      code: "REACHOUT_TIMELOCK",
      until,
    });
    expect(await arrivals(account)).toEqual([{ to: ana.lid, ack: 463 }]);
  });
});

describe("a first message to a person", () => {
  const salt = () => randomBytes(32);
  const tokens = async ({ me }: Account) => {
    const { arrivals } = await stage.control.ledger();
    return arrivals.filter(({ phone }) => phone === me.phone).map(({ token, ack }) => [token, ack]);
  };
  const stranger = () => stage.control.addPerson({});
  /** Waits until the account has this salt, or none. */
  const knows = ({ listener }: Account, expected: Uint8Array | undefined) =>
    eventually(async () => {
      const stored = parseCredentials((await listener.credentials.load()) ?? new Uint8Array());
      expect(stored.contactTokenSalt && Buffer.from(stored.contactTokenSalt)).toEqual(expected);
    });

  beforeAll(() => stage.control.settings({ trustDemanded: true }));
  afterAll(() => stage.control.settings({ trustDemanded: false }));

  it("carries a token made from the salt of the account, and a setting of it outlasts a late history", async () => {
    const account = await link({});
    expect(await send(account, await stranger())).toMatchObject({ outcome: "accepted" });
    const [first, last] = [salt(), salt()];
    for (const [where, next, known] of [
      ["history", first, first],
      ["settings", last, last],
      ["history", first, last],
    ] as const) {
      await stage.control.shareSalt(account.me.phone, next, { in: where });
      await settle(account.me, account.listener);
      await knows(account, known);
    }
    await stage.control.shareSalt(account.me.phone, last, { in: "history" });
    expect(await send(account, await stranger())).toMatchObject({ outcome: "accepted" });
    expect(await tokens(account)).toEqual(Array(2).fill(["cstoken", "ok"]));
  });

  it("carries its token again when it could not be read", async () => {
    const account = await link({});
    const bia = await stranger();
    const id = newMessageId();
    await send(account, bia, text("Hi"), id);
    await eventually(async () => expect(await stage.control.message(bia.phone, id)).toBeDefined());
    await stage.control.requestRetry(bia.phone, id);
    await eventually(async () => expect(await stage.control.arrivals(id)).toBe(2));
    expect(await tokens(account)).toEqual(Array(2).fill(["cstoken", "ok"]));
  });

  it("is refused without locking anything once the phone has removed the salt", async () => {
    const account = await link({});
    await stage.control.shareSalt(account.me.phone, undefined);
    await knows(account, undefined);
    expect(await send(account, await stranger())).toMatchObject({
      outcome: "refused",
      code: "SEND_FAILED",
      reason: expect.stringContaining("(463)"),
    });
    // To the LID, and once to the number.
    expect(await tokens(account)).toEqual(Array(2).fill([undefined, 463]));
  });

  it("carries the person's own token, fetched first, if the person knows the account", async () => {
    const account = await link({});
    const friend = await stage.control.addPerson({ trusts: [account.me.phone] });
    for (const words of ["first", "second"]) await send(account, friend, text(words));
    expect(await tokens(account)).toEqual(Array(2).fill(["tctoken", "ok"]));
    const { "iq:privacy": asked = 0 } = await stage.control.stanzas(account.me.phone);
    await send(account, friend);
    expect(await stage.control.stanzas(account.me.phone)).toMatchObject({ "iq:privacy": asked });
  });

  it.each([1, 15, 129, 1_000_000])(
    "keeps the salt that it has when one of %s bytes comes",
    async (length) => {
      const account = await link({});
      const good = salt();
      await stage.control.shareSalt(account.me.phone, good);
      await knows(account, good);
      await stage.control.shareSalt(account.me.phone, randomBytes(length));
      await stage.control.shareSalt(account.me.phone, randomBytes(length), { in: "history" });
      await settle(account.me, account.listener);
      await knows(account, good);
    },
  );
});
