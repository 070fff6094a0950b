import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, RecordingSession } from "../../../../test/conformance/listener.ts";
import { SAMPLE } from "../../../../test/sample-files.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content, Jid, NetworkEvent, Session } from "../../driver.ts";
import { groupJid, newMessageId } from "../../jid.ts";
import type { OperationResult } from "../../session-operations.ts";

const text = (words: string): Content => ({ kind: "text", text: words });

let stage: WhatsAppStage;
let listener: RecordingSession;
let session: Required<Session>;

const pair = (): Promise<void> => listener.pair(stage.phone);

const heardWhere = <Type extends NetworkEvent["type"]>(
  type: Type,
  expected: object,
): Promise<Extract<NetworkEvent, { type: Type }>> =>
  eventually(() => {
    expect(listener.all(type)).toContainEqual(expect.objectContaining(expected));
    return listener.all(type).at(-1) as Extract<NetworkEvent, { type: Type }>;
  });

const contacts = () => listener.all("contact_updated").map(({ contact }) => contact);

beforeEach(async () => {
  stage = await startWhatsAppStage();
  listener = new RecordingSession(stage.driver, stage.credentials());
  session = listener.session as Required<Session>;
});

afterEach(async () => {
  await session.disconnect();
  await stage.stop();
});

describe("contacts", () => {
  beforeEach(pair);

  it("that are businesses show what the network has verified about them", async () => {
    const { phone } = await stage.control.addPerson({
      business: {
        verified_name: "Padaria Real",
        description: "Bread",
        category: "Bakery",
        email: "oi@padaria.example",
        website: "https://padaria.example",
        address: "Rua 1",
      },
    });
    const [found] = done(await session.contacts.check([phone]));
    expect(found?.verified_name).toBe("Padaria Real");
    expect(done(await session.contacts.info(found?.jid as Jid))).toMatchObject({
      verified_name: "Padaria Real",
      is_business: true,
      business: {
        description: "Bread",
        category: "Bakery",
        email: "oi@padaria.example",
        website: ["https://padaria.example"],
        address: "Rua 1",
      },
    });
    await stage.control.sendMessage(phone, stage.phone.number, "Fresh bread");
    await heardWhere("contact_updated", {
      contact: expect.objectContaining({ phone, verified_name: "Padaria Real" }),
    });
  });

  it("that show their profile to people whom they know show it to an account that has their token", async () => {
    const trusts = [stage.phone.number];
    const hidden = { about: "At sea", picture: SAMPLE.png, hidesProfile: true };
    const { jid } = await stage.control.addPerson({ ...hidden, trusts });
    const info = async () => done(await session.contacts.info(jid as Jid));
    expect(await info()).toMatchObject({ about: null, picture_url: null });
    await session.send(jid as Jid, text("Hi"), { id: newMessageId() });
    expect(await info()).toMatchObject({ about: "At sea", picture_url: expect.any(String) });
  });

  it("are found under another variant of their number", async () => {
    await stage.control.addPerson({ phone: "553188887777", aliases: ["5531988887777"] });
    const [found] = done(await session.contacts.check(["5531988887777"]));
    expect(found).toMatchObject({ number: "5531988887777", jid: "553188887777@s.whatsapp.net" });
  });

  it("whose number belongs to a new account are looked up again when the network says so", async () => {
    const { control, contact, phone } = stage;
    const send = async () => {
      const id = newMessageId();
      expect(await session.send(contact.jid, text("Hi"), { id })).toMatchObject({ outcome: "accepted" });
      const { arrivals } = await control.ledger();
      return arrivals.find((one) => one.id === id)?.to;
    };
    const { lid } = await control.person(contact.number);
    expect(await send()).toBe(lid);
    const renewed = await control.renewLid(contact.number);
    expect(await send()).toBe(lid);
    await eventually(async () => expect(await send()).toBe(renewed.lid));
    const asked = (await control.stanzas(phone.number))["iq:usync"];
    expect(await send()).toBe(renewed.lid);
    expect((await control.stanzas(phone.number))["iq:usync"]).toBe(asked);
    // Its old owner has another number now.
    expect(done(await session.contacts.info(lid as Jid))).toMatchObject({ jid: lid, phone: null });
  });

  it("with an unknown number can be blocked, and a group cannot", async () => {
    const { phone, lid } = await stage.control.addPerson();
    done(await session.contacts.setBlocked(lid as Jid, true));
    expect((await stage.control.person(stage.phone.number)).blocked).toEqual([phone]);
    const refusal = { outcome: "refused", code: "VALIDATION_ERROR" };
    expect(await session.contacts.setBlocked(groupJid("120363000000000001"), true)).toMatchObject(refusal);
  });

  it("are reported once with their names, however much they write, and without a query", async () => {
    await stage.control.sendMessage(stage.contact.number, stage.phone.number, "one");
    await heardWhere("contact_updated", { contact: expect.objectContaining({ push_name: "Ana" }) });
    await stage.control.clearLedger();
    for (const words of ["two", "three"]) {
      await listener.message(
        (await stage.control.sendMessage(stage.contact.number, stage.phone.number, words)) as never,
      );
    }
    expect(contacts().filter(({ push_name }) => push_name === "Ana")).toHaveLength(1);
    const kinds = Object.keys(await stage.control.stanzas(stage.phone.number));
    // Queries of the first login.
    const isAboutSettings = (kind: string) => kind === "iq:w:sync:app:state";
    expect(kinds.filter((kind) => kind.startsWith("iq") && !isAboutSettings(kind))).toEqual([]);
  });

  it("that are quoted are identified by their numbers", async () => {
    const me = await stage.control.person(stage.phone.number);
    const id = newMessageId();
    await session.send(stage.contact.jid, text("Red or blue?"), { id });
    const quoted = { id, from_me: false, sender: me.lid as Jid, text: "Red or blue?" };
    const { content } = await listener.message(await stage.contact.sendMessage({ ...text("Blue"), quoted }));
    expect(content.quoted).toEqual({ id, from_me: true, sender: me.jid, text: "Red or blue?" });
  });

  it("that are mentioned are identified by number here, and by LID in a group that uses LIDs", async () => {
    const bia = await stage.control.addPerson({ name: "Bia" });
    const team = await stage.control.addGroup("Team", [stage.contact.number, stage.phone.number, bia.phone]);
    done(await session.contacts.check([bia.phone]));
    const me = await stage.control.person(stage.phone.number);
    const content = { kind: "text", text: "@you @her", mentions: [me.lid, bia.lid] } as const;
    const id = await stage.control.sendMessage(stage.contact.number, team.jid, {
      ...content,
      mentions: [me.lid, bia.lid],
    });
    expect((await listener.message(id as never)).content.mentions).toEqual([me.jid, bia.jid]);
    const sent = newMessageId();
    await session.send(team.jid as Jid, { ...text("@her"), mentions: [bia.jid as Jid] }, { id: sent });
    await eventually(async () => {
      const seen = (await stage.control.seen(bia.phone)).find(
        (one) => one.type === "message" && one.id === sent,
      );
      expect(seen).toMatchObject({ content: { text: "@her", mentions: [bia.lid] } });
    });
  });

  it("see when the instance is typing, recording or pausing", async () => {
    for (const presence of ["typing", "recording", "paused"] as const) {
      const shown = await session.setPresence(presence, stage.contact.jid);
      expect(shown.outcome).toBe("accepted");
    }
    await eventually(async () => {
      const seen = (await stage.control.seen(stage.contact.number)).filter((one) => one.type === "presence");
      expect(seen.map(({ state }) => state)).toEqual(["typing", "recording", "paused"]);
    });
  });
});

describe("the history sync of the phone at the pairing", () => {
  it("contains names, both addresses of contacts, and the state of chats", async () => {
    const { control, phone, contact } = stage;
    const { lid } = await control.person(contact.number);
    const bia = await control.addPerson({ name: "Bia" });
    const muted_until = Date.now() + 3_600_000;
    const message = (id: string) => [{ id, text: "long ago", at: Date.now() - 86_400_000 }];
    await control.settings({
      history: [
        { chat: contact.number, messages: message("OLD1") },
        {
          chat: bia.phone,
          archived: true,
          pinned: true,
          unread: true,
          muted_until,
          messages: message("OLD2"),
        },
      ],
    });
    await control.changeSetting(phone.number, { contact: { fullName: "Ana Maria" } }, contact.jid);
    await control.changeSetting(phone.number, { archive: true, lastMessages: [] }, contact.jid);
    await pair();
    // Names, pairs of addresses and chats arrive from several sources, in any order.
    const reported = (one: object) =>
      heardWhere("contact_updated", { contact: expect.objectContaining(one) });
    await reported({ jid: contact.jid, phone: contact.number, name: "Ana Maria" });
    await reported({ jid: contact.jid, lid });
    await reported({ jid: bia.jid, push_name: "Bia" });
    await reported({ jid: bia.jid, lid: bia.lid });
    const expected = { archived: true, pinned: true, unread: true, muted_until: new Date(muted_until) };
    await heardWhere("chat_updated", { chat: bia.jid, change: expect.objectContaining(expected) });
    await heardWhere("chat_updated", {
      chat: contact.jid,
      change: expect.objectContaining({ archived: true }),
    });
    expect(contacts().filter((one) => one.phone === phone.number)).toEqual([]);
  });
});

describe("chat settings", () => {
  beforeEach(pair);

  it("are applied to the chat under the address that the network gives it", async () => {
    const { control, phone, contact } = stage;
    const { lid } = await control.person(contact.number);
    await listener.message((await control.sendMessage(contact.number, phone.number, "Oi")) as never);
    done(await session.chats.setState(contact.jid, { archived: true, unread: true }));
    const settings = await control.appSettings(phone.number);
    expect(settings.map(({ index }) => index)).toEqual([
      ["archive", lid],
      ["markChatAsRead", lid],
    ]);
    await control.changeSetting(phone.number, { pin: true }, lid);
    await heardWhere("chat_updated", {
      chat: contact.jid,
      change: expect.objectContaining({ pinned: true }),
    });
  });

  it("are applied again when the phone changed them first", async () => {
    await stage.control.fault({ fault: "setting_conflict", times: 2 });
    done(await session.chats.setState(stage.contact.jid, { pinned: true }));
    expect(await stage.world.chat(stage.contact.jid)).toEqual({ pinned: true });
    await stage.control.fault({ fault: "setting_conflict", times: 3 });
    const lost = await session.chats.setState(stage.contact.jid, { pinned: false });
    expect(lost).toMatchObject({ outcome: "refused", code: "CONFLICT" });
    done(await session.chats.setState(stage.contact.jid, { pinned: false }));
    expect(await stage.world.chat(stage.contact.jid)).toEqual({ pinned: false });
  });

  it("support a mute without an end", async () => {
    const { control, phone, contact } = stage;
    const forever = new Date("9999-12-31T00:00:00Z");
    done(await session.chats.setState(contact.jid, { muted_until: forever }));
    const [setting] = await control.appSettings(phone.number);
    expect(setting?.action).toMatchObject({ muteAction: { muted: true, muteEndTimestamp: "-1" } });
    await control.changeSetting(phone.number, { mute: -1 }, contact.jid);
    const { change } = await heardWhere("chat_updated", { chat: contact.jid });
    expect(change.muted_until?.getUTCFullYear()).toBe(9999);
  });
});

describe("groups", () => {
  beforeEach(pair);

  it("are listed by one query, and cached for later sends", async () => {
    const { control, phone, contact } = stage;
    for (let i = 0; i < 20; i++) await control.addGroup(`Group ${i}`, [phone.number, contact.number]);
    await control.clearLedger();
    const groups = done(await session.groups.list());
    expect(groups).toHaveLength(20);
    expect(await control.stanzas(phone.number)).toMatchObject({ "iq:w:g2": 1 });
    const result = await session.send(groups[3]?.jid as Jid, text("hello"), { id: newMessageId() });
    expect(result.outcome).toBe("accepted");
    expect(await control.stanzas(phone.number)).toMatchObject({ "iq:w:g2": 1 });
    done(await session.groups.get(groups[3]?.jid as Jid));
    expect(await control.stanzas(phone.number)).toMatchObject({ "iq:w:g2": 2 });
    expect(listener.all("group_updated")).toEqual([]);
  });

  it("are reported completely when the network asks for a new read", async () => {
    const { control, phone, contact } = stage;
    const { jid } = await control.addGroup("Team", [contact.number, phone.number]);
    await control.push(phone.number, {
      tag: "ib",
      attrs: { from: "s.whatsapp.net" },
      content: [{ tag: "dirty", attrs: { type: "groups" } }],
    });
    const { change } = await heardWhere("group_updated", { group: jid });
    expect(change.group).toMatchObject({ subject: "Team", owner: contact.jid });
    expect(change.group?.participants).toHaveLength(2);
    done(await session.groups.list());
    expect(listener.all("group_updated")).toHaveLength(1);
  });

  it("are reported completely when a contact creates them with the instance as member", async () => {
    const { control, phone, contact } = stage;
    const { jid, subject } = await control.addGroup("New", [contact.number, phone.number]);
    await control.push(phone.number, {
      tag: "notification",
      attrs: { from: jid, type: "w:gp2", id: "N1", t: "1700000000", participant: contact.jid },
      content: [
        {
          tag: "create",
          attrs: { type: "new" },
          content: [
            {
              tag: "group",
              attrs: { id: jid.replace("@g.us", ""), subject, creation: "1700000000", creator: contact.jid },
              content: [{ tag: "participant", attrs: { jid: contact.jid, type: "superadmin" } }],
            },
          ],
        },
      ],
    });
    const { change } = await heardWhere("group_updated", { group: jid });
    expect(change).toMatchObject({
      group: {
        subject: "New",
        owner: contact.jid,
        participants: [{ jid: contact.jid, admin: "superadmin" }],
      },
      by: { jid: contact.jid },
    });
    expect(listener.all("group_updated")).toHaveLength(1);
  });
});

describe("a network response", () => {
  beforeEach(pair);

  it("that asks for fewer queries is reported with a pause", async () => {
    await stage.control.fault({ fault: "iq_error", xmlns: "w:g2", code: 429 });
    expect(await session.groups.list()).toMatchObject({
      outcome: "refused",
      code: "RATE_LIMITED",
      retry_after_seconds: 60,
    });
    await stage.control.fault({ fault: "usync_error", part: "contact", code: 429, backoff: 30 });
    expect(await session.contacts.check([stage.contact.number])).toMatchObject({
      code: "RATE_LIMITED",
      retry_after_seconds: 30,
    });
    done(await session.contacts.check([stage.contact.number]));
  });

  it.each([
    [400, { outcome: "refused", code: "VALIDATION_ERROR" }],
    [401, { outcome: "refused", code: "FORBIDDEN" }],
    [409, { outcome: "refused", code: "CONFLICT" }],
    [471, { outcome: "refused", code: "SEND_FAILED" }],
    [503, { outcome: "failed" }],
  ])("%i has an error code of the gateway", async (code, expected) => {
    await stage.control.fault({ fault: "iq_error", xmlns: "w:mex", code });
    expect(await session.profile.setAbout("Hello")).toMatchObject(expected);
    await stage.control.fault({ fault: "mex_error", code });
    expect(await session.profile.setAbout("Hello")).toMatchObject(expected);
  });

  it("that does not arrive is awaited no longer than the connection lasts", async () => {
    await stage.control.fault({ fault: "iq_silence", xmlns: "w:g2" });
    const pending = session.groups.list();
    await eventually(async () =>
      expect(await stage.control.stanzas(stage.phone.number)).toHaveProperty("iq:w:g2"),
    );
    await session.disconnect();
    expect(await pending).toMatchObject({ outcome: "failed" });
  });
});

function done<Value>(result: OperationResult<Value>): Value {
  if (result.outcome !== "done") expect.fail(`not done: ${JSON.stringify(result)}`);
  return result.value;
}
