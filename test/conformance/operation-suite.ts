import { beforeAll, describe, expect, it } from "vitest";
import type { Jid, MessageId } from "../../src/network/driver.ts";
import { newMessageId, phoneJid } from "../../src/network/jid.ts";
import type { ChatState } from "../../src/network/session-operations.ts";
import { describeGroups } from "./groups.ts";
import { type EventOf, eventually, RecordingSession } from "./listener.ts";
import { digits, done, JPEG, LID, OperationStory, refused } from "./operation-story.ts";
import type { OperationStage } from "./stage.ts";

/** The suite of session operations, for every driver with these capabilities. */
export function describeOperations(name: string, start: () => Promise<OperationStage>): void {
  describe(`${name} driver, operations`, () => {
    const story = new OperationStory(start);
    describeContacts(story);
    describeChats(story);
    describeLabels(story);
    describeStories(story);
    describeProfile(story);
    describePresence(story);
    describeCatalogs(story);
    describeGroups(story);
    describeCalls(story);
  });
}

export function describeContacts(story: OperationStory): void {
  describe("contacts", () => {
    it("reports which numbers are on the network, one result for each number and in order", async () => {
      const { number } = await story.world.addPerson();
      const nobody = digits(story.stage.unregisteredJid);
      const found = done(await story.session.contacts.check([nobody, story.contact, number, story.contact]));
      expect(found.map((one) => [one.number, one.jid])).toEqual([
        [nobody, null],
        [story.contact, story.stage.contact.jid],
        [number, phoneJid(number)],
        [story.contact, story.stage.contact.jid],
      ]);
      expect(found.map(({ lid }) => lid)).toEqual([null, LID, LID, LID]);
      expect(done(await story.session.contacts.check([]))).toEqual([]);
    });

    it("returns the public profile of a contact", async () => {
      const { number, jid } = await story.world.addPerson({ about: "At sea", picture: JPEG });
      const info = done(await story.session.contacts.info(jid));
      expect(info).toMatchObject({ jid, lid: LID, phone: number, about: "At sea", is_business: false });
      expect(info.picture_url).toMatch(/^https?:\/\//);
      const plain = await story.world.addPerson();
      expect(done(await story.session.contacts.info(plain.jid))).toMatchObject({
        picture_url: null,
        business: null,
        verified_name: null,
      });
    });

    it("accepts the LID of a contact too", async () => {
      const { number, jid } = await story.world.addPerson({ about: "By LID" });
      const [found] = done(await story.session.contacts.check([number]));
      const info = done(await story.session.contacts.info(found?.lid as Jid));
      expect(info).toMatchObject({ jid, lid: found?.lid, phone: number, about: "By LID" });
    });

    it("refuses a profile request for a number that is not on the network", async () => {
      expect(await story.session.contacts.info(story.stage.unregisteredJid)).toMatchObject(
        refused("RECIPIENT_NOT_FOUND"),
      );
      expect(await story.session.contacts.setBlocked(story.stage.unregisteredJid, true)).toMatchObject(
        refused("RECIPIENT_NOT_FOUND"),
      );
    });

    it("blocks and unblocks a contact by any of its addresses", async () => {
      const one = await story.world.addPerson();
      const two = await story.world.addPerson();
      const [checked] = done(await story.session.contacts.check([two.number]));
      done(await story.session.contacts.setBlocked(one.jid, true));
      done(await story.session.contacts.setBlocked(checked?.lid as Jid, true));
      expect((await story.world.phone()).blocked.sort()).toEqual([one.number, two.number].sort());
      expect(done(await story.session.contacts.blocked()).sort()).toEqual([one.jid, two.jid].sort());
      done(await story.session.contacts.setBlocked(two.jid, false));
      done(await story.session.contacts.setBlocked(one.jid, false));
      expect(done(await story.session.contacts.blocked())).toEqual([]);
    });

    it("adds a person to the phone's address book, and renames one there", async () => {
      const { number, jid } = await story.world.addPerson();
      const save = (first_name: string, last_name: string | null) =>
        story.session.contacts.save(jid, { first_name, last_name });
      expect(done(await save("Zoé", "Lima"))).toMatchObject({ jid, phone: number, lid: LID });
      expect(await story.world.contactName(number)).toBe("Zoé Lima");
      done(await save("Zoca", null));
      expect(await story.world.contactName(number)).toBe("Zoca");
      const nobody = { first_name: "Nobody", last_name: null };
      expect(await story.session.contacts.save(story.stage.unregisteredJid, nobody)).toMatchObject(
        refused("RECIPIENT_NOT_FOUND"),
      );
    });

    it("reports the names in the phone's address book, and reports them again on request", async () => {
      const { number, jid } = await story.world.addPerson();
      const named = (nth: number) =>
        eventually(() => {
          const found = story.listener.all("contact_updated").filter((event) => event.contact.name === "Zé");
          expect(found.length).toBeGreaterThanOrEqual(nth);
          return found.at(-1)?.contact;
        });
      await story.world.nameContact(number, "Zé");
      expect(await named(1)).toMatchObject({ jid, phone: number, lid: LID });
      const before = story.listener
        .all("contact_updated")
        .filter((event) => event.contact.name === "Zé").length;
      done(await story.session.contacts.synchronise());
      expect(await named(before + 1)).toMatchObject({ jid, phone: number });
    });
  });
}

export function describeChats(story: OperationStory): void {
  describe("chats", () => {
    const changes: [string, ChatState, ChatState][] = [
      ["archives", { archived: true }, { archived: false }],
      ["pins", { pinned: true }, { pinned: false }],
      ["mutes", { muted_until: hourFromNow() }, { muted_until: null }],
      ["marks unread", { unread: true }, { unread: false }],
    ];

    it.each(changes)("%s a chat and reverts it", async (_, change, opposite) => {
      const { jid, number } = await story.world.addPerson();
      const last = { chat: jid, id: "LAST" as MessageId, from_me: false, at: new Date() };
      done(await story.session.chats.setState(jid, change, last));
      expect(await story.world.chat(jid)).toMatchObject(change);
      done(await story.session.chats.setState(phoneJid(number), opposite, last));
      expect(await story.world.chat(jid)).toMatchObject(opposite);
    });

    it("changes a chat without messages, and a group", async () => {
      const { jid } = await story.world.addPerson();
      done(await story.session.chats.setState(jid, { archived: true }));
      expect(await story.world.chat(jid)).toMatchObject({ archived: true });
      const group = await story.ownGroup(story.contact);
      done(await story.session.chats.setState(group, { pinned: true }));
      expect(await story.world.chat(group)).toMatchObject({ pinned: true });
    });

    it.each(changes)("reports when the phone %s a chat", async (_, change, opposite) => {
      const { jid } = await story.world.addPerson();
      for (const state of [change, opposite]) {
        await story.world.changeChat(jid, state);
        const reported = (event: EventOf<"chat_updated">) =>
          event.chat === jid && JSON.stringify(event.change) === JSON.stringify(state);
        await story.findEvent("chat_updated", reported);
      }
    });
  });
}

/** The part of the suite about stories. */
export function describeStories(story: OperationStory): void {
  describe("stories", () => {
    it("go to their audience, and to nobody else's chat", async () => {
      const text = newMessageId();
      const { contact } = story.stage;
      const styled = { kind: "text", text: "Open today", background: 0xff1e6e4f, font: 2 } as const;
      const at = done(await story.session.statuses.send(styled, [contact.jid], text));
      expect(Math.abs(at.getTime() - Date.now())).toBeLessThan(HOUR_MS);
      const picture = newMessageId();
      const image = { kind: "media", media_type: "image", mime_type: "image/jpeg" } as const;
      const file = { ...image, caption: "New", size: JPEG.length, bytes: JPEG };
      done(await story.session.statuses.send(file, [contact.jid, story.stage.unregisteredJid], picture));
      await eventually(async () => {
        const found = new Map((await contact.stories()).map(({ id, content }) => [id, content]));
        expect(found.get(text)).toMatchObject({ kind: "text", text: "Open today" });
        expect(found.get(picture)).toMatchObject({ kind: "media", media_type: "image", caption: "New" });
      });
      const messages = (await contact.observed()).filter((one) => one.type === "message");
      expect(messages.filter(({ id }) => id === text || id === picture)).toEqual([]);
    });

    it("are refused if nobody of the audience is on the network", async () => {
      const content = { kind: "text", text: "Open" } as const;
      const sent = await story.session.statuses.send(content, [story.stage.unregisteredJid], newMessageId());
      expect(sent).toMatchObject(refused("SEND_FAILED"));
    });

    it("report who has seen them", async () => {
      const id = newMessageId();
      const { contact } = story.stage;
      done(await story.session.statuses.send({ kind: "text", text: "Seen?" }, [contact.jid], id));
      await eventually(async () => expect((await contact.stories()).map((one) => one.id)).toContain(id));
      await contact.viewStory(id);
      const { by } = await story.findEvent("status_viewed", ({ ids }) => ids.includes(id));
      expect(by).toMatchObject({ jid: contact.jid, phone: contact.number });
    });

    it("of a contact are reported, and are no messages", async () => {
      const id = await story.stage.contact.postStory("At the beach");
      const { by, content } = await story.findEvent("status_received", (event) => event.id === id);
      expect(by).toMatchObject({ jid: story.stage.contact.jid });
      expect(content).toMatchObject({ kind: "text", text: "At the beach" });
      expect(story.listener.all("message").filter(({ message }) => message.id === id)).toEqual([]);
    });
  });
}

/** The part of the suite about labels. */
export function describeLabels(story: OperationStory): void {
  describe("labels", () => {
    const LABEL = { id: "41", name: "New customer", color: 3 };
    const MESSAGE = "3EB0LABELLED" as MessageId;

    it("creates a label, gives it to a chat and to a message, takes it away and deletes it", async () => {
      const { jid } = await story.world.addPerson();
      const { labels } = story.session;
      done(await labels.save(LABEL));
      done(await labels.save({ ...LABEL, name: "Old customer", color: 4 }));
      for (const message_id of [null, MESSAGE])
        done(await labels.assign({ label_id: LABEL.id, chat: jid, message_id, labelled: true }));
      expect((await story.world.labels())[LABEL.id]).toEqual({
        name: "Old customer",
        color: 4,
        on: [jid, `${jid}/${MESSAGE}`],
      });
      expect(done(await labels.list())).toContainEqual({ ...LABEL, name: "Old customer", color: 4 });
      done(await labels.assign({ label_id: LABEL.id, chat: jid, message_id: null, labelled: false }));
      expect((await story.world.labels())[LABEL.id]?.on).toEqual([`${jid}/${MESSAGE}`]);
      done(await labels.delete({ ...LABEL, name: "Old customer", color: 4 }));
      expect(await story.world.labels()).not.toHaveProperty(LABEL.id);
    });

    it("reports what the phone does with its labels", async () => {
      const label = { id: "42", name: "Paid", color: 0 };
      await story.world.changeLabel(label, false);
      await story.findEvent("label_changed", (event) => event.label.id === "42" && !event.is_deleted);
      const { jid } = await story.world.addPerson();
      const on = { label_id: "42", chat: jid };
      for (const change of [
        { ...on, message_id: null, labelled: true },
        { ...on, message_id: MESSAGE, labelled: true },
        { ...on, message_id: null, labelled: false },
      ]) {
        await story.world.assignLabel(change);
        const event = { type: "label_assigned", ...change };
        await eventually(() => expect(story.listener.all("label_assigned")).toContainEqual(event));
      }
      await story.world.changeLabel(label, true);
      await story.findEvent("label_changed", (event) => event.label.id === "42" && event.is_deleted);
    });
  });
}

const HOUR_MS = 3_600_000;

function hourFromNow(): Date {
  return new Date(Date.now() + HOUR_MS);
}

export function describeProfile(story: OperationStory): void {
  describe("own profile", () => {
    it("returns its identity and its visible profile", async () => {
      const me = done(await story.session.profile.get());
      expect(me).toMatchObject({
        phone: story.phone,
        jid: phoneJid(story.phone),
        lid: LID,
        is_business: false,
      });
      expect(me.privacy).toMatchObject({ last: expect.any(String), groupadd: expect.any(String) });
    });

    it("changes its name and its about text", async () => {
      done(await story.session.profile.setName("Loja São João"));
      done(await story.session.profile.setAbout("Open until six"));
      expect(await story.world.phone()).toMatchObject({ name: "Loja São João", about: "Open until six" });
      expect(done(await story.session.profile.get())).toMatchObject({
        push_name: "Loja São João",
        about: "Open until six",
      });
      done(await story.session.profile.setAbout(""));
      expect(done(await story.session.profile.get()).about).toBeNull();
    });

    it("changes its privacy settings one by one", async () => {
      done(await story.session.profile.setPrivacy("last", "contacts"));
      done(await story.session.profile.setPrivacy("readreceipts", "none"));
      const { privacy } = done(await story.session.profile.get());
      expect(privacy).toMatchObject({ last: "contacts", readreceipts: "none", groupadd: "all" });
    });

    it("changes its picture and removes it", async () => {
      done(await story.session.profile.setPicture(JPEG));
      expect((await story.world.phone()).has_picture).toBe(true);
      expect(done(await story.session.profile.get()).picture_url).toMatch(/^https?:\/\//);
      done(await story.session.profile.setPicture(null));
      expect((await story.world.phone()).has_picture).toBe(false);
      expect(done(await story.session.profile.get()).picture_url).toBeNull();
    });
  });
}

/** The part of the suite about the presence of others. */
export function describePresence(story: OperationStory): void {
  describe("presence of others", () => {
    type Shown = EventOf<"presence_changed">;
    const shown = (fits: (event: Shown) => boolean) => story.findEvent("presence_changed", fits);

    beforeAll(async () => void (await story.session.setPresence("available")));

    it("is reported of a person whom it follows, until the presence expires, and of nobody else", async () => {
      const [ana, bia] = [await story.world.addPerson(), await story.world.addPerson()];
      const { expires_at } = done(await story.session.presence.subscribe(ana.jid));
      await story.world.showPresence(bia.number, "typing");
      for (const presence of ["typing", "recording", "paused", "available", "unavailable"] as const) {
        await story.world.showPresence(ana.number, presence);
        const event = await shown((one) => one.chat === ana.jid && one.presence === presence);
        expect(event.who).toMatchObject({ jid: ana.jid, lid: LID, phone: ana.number });
        expect(event.last_seen_at).toEqual(presence === "unavailable" ? expect.any(Date) : null);
        const isBrief = presence === "typing" || presence === "recording";
        expect(event.expires_at && event.expires_at < expires_at).toBe(isBrief);
      }
      const others = story.listener.all("presence_changed").filter(({ who }) => who.phone === bia.number);
      expect(others).toEqual([]);
    });

    it("is reported of the members of a group that it follows", async () => {
      const { number, jid } = await story.world.addPerson();
      const group = await story.ownGroup(number);
      done(await story.session.groups.get(group));
      done(await story.session.presence.subscribe(group));
      await story.world.showPresence(number, "typing", group);
      expect(await shown((one) => one.chat === group)).toMatchObject({ presence: "typing", who: { jid } });
    });

    it("is reported again after a reconnect", async () => {
      const { number, jid } = await story.world.addPerson();
      done(await story.session.presence.subscribe(jid));
      const connections = story.listener.all("connected").length;
      await story.stage.phone.drop();
      await story.listener.waitForEvent("connected", connections + 1);
      await story.session.setPresence("available");
      await eventually(async () => {
        await story.world.showPresence(number, "available");
        expect(story.listener.all("presence_changed")).toContainEqual(
          expect.objectContaining({ chat: jid, presence: "available" }),
        );
      });
    });
  });
}

/** The part of the suite about the products of businesses. */
export function describeCatalogs(story: OperationStory): void {
  describe("catalogues", () => {
    const all = { limit: 50, cursor: null };

    it("have the products of a business, page by page", async () => {
      const catalog = [
        { id: "1", name: "Bread", description: "Of today", price: 4.5, currency: "BRL" },
        { id: "2", name: "Cake" },
        { id: "3", name: "Pie" },
      ];
      const { jid } = await story.world.addPerson({ catalog });
      const first = done(await story.session.business.catalog(jid, { limit: 2, cursor: null }));
      const unknown = { description: null, price: null, currency: null };
      const common = { url: null, image_url: null, retailer_id: null, is_hidden: false };
      expect(first.products).toEqual([
        { ...catalog[0], ...common },
        { ...catalog[1], ...unknown, ...common },
      ]);
      const { next_cursor: cursor } = first;
      const rest = done(await story.session.business.catalog(jid, { limit: 2, cursor }));
      expect(rest).toMatchObject({ products: [{ name: "Pie" }], next_cursor: null });
    });

    it("are not there for people without one, the paired phone among them", async () => {
      const { jid } = await story.world.addPerson();
      const { business } = story.session;
      expect(await business.catalog(jid, all)).toMatchObject(refused("NOT_FOUND"));
      expect(await business.catalog(null, all)).toMatchObject(refused("NOT_FOUND"));
      expect(await business.catalog(story.stage.unregisteredJid, all)).toMatchObject(
        refused("RECIPIENT_NOT_FOUND"),
      );
    });
  });
}

export function describeCalls(story: OperationStory): void {
  it("rejects a phone call", async () => {
    const before = story.listener.all("call_received").length;
    await story.stage.contact.startPhoneCall();
    const { call_id, from } = await story.listener.waitForEvent("call_received", before + 1);
    done(await story.session.rejectCall(call_id, from.jid));
    await eventually(async () => expect(await story.world.rejectedPhoneCalls()).toContain(call_id));
  });

  it("returns nothing while it is not connected", async () => {
    const { session } = new RecordingSession(story.stage.driver, story.stage.credentials());
    const group = await story.ownGroup(story.contact);
    const results = await Promise.all([
      session.contacts?.check([story.contact]),
      session.chats?.setState(story.stage.contact.jid, { archived: true }),
      session.profile?.get(),
      session.business?.catalog(null, { limit: 1, cursor: null }),
      session.groups?.get(group),
      session.presence?.subscribe(story.stage.contact.jid),
      session.rejectCall?.("CALL", story.stage.contact.jid),
    ]);
    expect(results.map((one) => one?.outcome)).toEqual(Array(results.length).fill("failed"));
  });
}
