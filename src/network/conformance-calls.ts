import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallResult, ChatState, GroupChange, ParticipantAction } from "./calls.ts";
import { eventually, Listener, type Stage } from "./conformance.ts";
import type { Jid, MessageId, NetworkEvent, Session } from "./driver.ts";
import { groupJid, newMessageId, phoneJid } from "./ids.ts";

export interface NewPerson {
  about?: string;
  picture?: Uint8Array;
  /** Nobody may put them into a group: 403. */
  refusesGroups?: boolean;
}

/** A group as the network has it. */
export interface GroupView {
  subject: string;
  description: string | null;
  announce: boolean;
  locked: boolean;
  has_picture: boolean;
  /** The code of the invitation link. */
  invite: string;
  /** By digits: whether each is an admin. */
  members: Record<string, boolean>;
}

/** What the paired phone shows of itself, and whom it has blocked, by digits. */
export interface PhoneView {
  name: string | null;
  about: string | null;
  has_picture: boolean;
  blocked: string[];
}

export type MemberChange = GroupChange | { action: ParticipantAction; who: string[] };

/** What else happens on the network; people are named by digits. */
export interface World {
  /** Somebody on the network with whom nobody has talked yet. */
  addPerson(person?: NewPerson): Promise<{ number: string; jid: Jid }>;
  /** A group of these people, the first of whom is its admin. */
  addGroup(subject: string, members: string[]): Promise<Jid>;
  group(group: Jid): Promise<GroupView>;
  /** A member changes a group. */
  changeGroup(by: string, group: Jid, change: MemberChange): Promise<void>;
  phone(): Promise<PhoneView>;
  /** What the paired phone shows of a chat, as far as it was ever changed. */
  chat(chat: Jid): Promise<ChatState>;
  /** The paired phone itself changes what it shows of a chat. */
  changeChat(chat: Jid, change: ChatState): Promise<void>;
  /** The paired phone writes somebody into its address book. */
  nameContact(number: string, name: string): Promise<void>;
  /** The calls of the contact that were rejected. */
  rejectedCalls(): Promise<string[]>;
}

export interface CallStage extends Stage {
  readonly world: World;
}

type EventOf<Type extends NetworkEvent["type"]> = Extract<NetworkEvent, { type: Type }>;
type GroupUpdated = EventOf<"group_updated">;

const NOBODY_GROUP = groupJid("120363999999999999");
const HOUR_MS = 3_600_000;

/** The suite of what a session can be asked beside messages; every driver that has these capabilities must pass it. */
export function describeCalls(name: string, start: () => Promise<CallStage>): void {
  describe(`${name} driver, asked`, () => {
    let stage: CallStage;
    let world: World;
    let listener: Listener;
    let session: Required<Session>;
    let phone: string;
    let contact: string;

    beforeAll(async () => {
      stage = await start();
      ({ world } = stage);
      phone = stage.phone.number;
      contact = stage.contact.number;
      listener = new Listener(stage.driver, stage.credentials());
      session = listener.session as Required<Session>;
      await listener.pair(stage.phone);
    });

    afterAll(async () => {
      await session.disconnect();
      await stage.stop();
    });

    const heardWhere = <Type extends NetworkEvent["type"]>(
      type: Type,
      fits: (event: EventOf<Type>) => boolean,
    ): Promise<EventOf<Type>> =>
      eventually(() => {
        const event = listener.all(type).find(fits);
        expect(event, type).toBeDefined();
        return event as EventOf<Type>;
      });

    /** The first change of a group that tells of this. */
    const changeOf = async (group: Jid, fits: (change: GroupUpdated["change"]) => boolean) =>
      (await heardWhere("group_updated", (event) => event.group === group && fits(event.change))).change;

    /** A group of the paired phone, which is its admin. */
    const ownGroup = (...others: string[]) => world.addGroup("Team", [phone, ...others]);

    describe("about contacts", () => {
      it("knows who is on the network, one answer for each number and in order", async () => {
        const { number } = await world.addPerson();
        const nobody = digits(stage.nobody);
        const found = done(await session.contacts.check([nobody, contact, number, contact]));
        expect(found.map((one) => [one.number, one.jid])).toEqual([
          [nobody, null],
          [contact, stage.contact.jid],
          [number, phoneJid(number)],
          [contact, stage.contact.jid],
        ]);
        expect(found.map(({ lid }) => lid)).toEqual([null, LID, LID, LID]);
        expect(done(await session.contacts.check([]))).toEqual([]);
      });

      it("tells what somebody shows of themselves", async () => {
        const { number, jid } = await world.addPerson({ about: "At sea", picture: JPEG });
        const info = done(await session.contacts.info(jid));
        expect(info).toMatchObject({ jid, lid: LID, phone: number, about: "At sea", is_business: false });
        expect(info.picture_url).toMatch(/^https?:\/\//);
        const plain = await world.addPerson();
        expect(done(await session.contacts.info(plain.jid))).toMatchObject({
          picture_url: null,
          business: null,
          verified_name: null,
        });
      });

      it("knows somebody by the LID too", async () => {
        const { number, jid } = await world.addPerson({ about: "By LID" });
        const [found] = done(await session.contacts.check([number]));
        const info = done(await session.contacts.info(found?.lid as Jid));
        expect(info).toMatchObject({ jid, lid: found?.lid, phone: number, about: "By LID" });
      });

      it("refuses to tell of somebody who is not on the network", async () => {
        expect(await session.contacts.info(stage.nobody)).toMatchObject(refused("RECIPIENT_NOT_FOUND"));
        expect(await session.contacts.setBlocked(stage.nobody, true)).toMatchObject(
          refused("RECIPIENT_NOT_FOUND"),
        );
      });

      it("blocks and unblocks, however somebody is addressed", async () => {
        const one = await world.addPerson();
        const two = await world.addPerson();
        const [checked] = done(await session.contacts.check([two.number]));
        done(await session.contacts.setBlocked(one.jid, true));
        done(await session.contacts.setBlocked(checked?.lid as Jid, true));
        expect((await world.phone()).blocked.sort()).toEqual([one.number, two.number].sort());
        expect(done(await session.contacts.blocked()).sort()).toEqual([one.jid, two.jid].sort());
        done(await session.contacts.setBlocked(two.jid, false));
        done(await session.contacts.setBlocked(one.jid, false));
        expect(done(await session.contacts.blocked())).toEqual([]);
      });

      it("tells whom the phone's address book names, and again when asked to", async () => {
        const { number, jid } = await world.addPerson();
        const named = (nth: number) =>
          eventually(() => {
            const found = listener.all("contact_updated").filter((event) => event.contact.name === "Zé");
            expect(found.length).toBeGreaterThanOrEqual(nth);
            return found.at(-1)?.contact;
          });
        await world.nameContact(number, "Zé");
        expect(await named(1)).toMatchObject({ jid, phone: number, lid: LID });
        const before = listener.all("contact_updated").filter((event) => event.contact.name === "Zé").length;
        done(await session.contacts.synchronise());
        expect(await named(before + 1)).toMatchObject({ jid, phone: number });
      });
    });

    describe("about chats", () => {
      const changes: [string, ChatState, ChatState][] = [
        ["archives", { archived: true }, { archived: false }],
        ["pins", { pinned: true }, { pinned: false }],
        ["mutes", { muted_until: hourFromNow() }, { muted_until: null }],
        ["marks unread", { unread: true }, { unread: false }],
      ];

      it.each(changes)("%s a chat and takes it back", async (_, change, opposite) => {
        const { jid, number } = await world.addPerson();
        const last = { chat: jid, id: "LAST" as MessageId, from_me: false, at: new Date() };
        done(await session.chats.setState(jid, change, last));
        expect(await world.chat(jid)).toMatchObject(change);
        done(await session.chats.setState(phoneJid(number), opposite, last));
        expect(await world.chat(jid)).toMatchObject(opposite);
      });

      it("changes a chat in which nothing was said yet, and a group", async () => {
        const { jid } = await world.addPerson();
        done(await session.chats.setState(jid, { archived: true }));
        expect(await world.chat(jid)).toMatchObject({ archived: true });
        const group = await ownGroup(contact);
        done(await session.chats.setState(group, { pinned: true }));
        expect(await world.chat(group)).toMatchObject({ pinned: true });
      });

      it.each(changes)("tells when the phone %s a chat", async (_, change, opposite) => {
        const { jid } = await world.addPerson();
        for (const state of [change, opposite]) {
          await world.changeChat(jid, state);
          const told = (event: EventOf<"chat_updated">) =>
            event.chat === jid && JSON.stringify(event.change) === JSON.stringify(state);
          await heardWhere("chat_updated", told);
        }
      });
    });

    describe("about its own profile", () => {
      it("tells who it is and what others may see", async () => {
        const me = done(await session.profile.get());
        expect(me).toMatchObject({ phone, jid: phoneJid(phone), lid: LID, is_business: false });
        expect(me.privacy).toMatchObject({ last: expect.any(String), groupadd: expect.any(String) });
      });

      it("changes its name and its about text", async () => {
        done(await session.profile.setName("Loja São João"));
        done(await session.profile.setAbout("Open until six"));
        expect(await world.phone()).toMatchObject({ name: "Loja São João", about: "Open until six" });
        expect(done(await session.profile.get())).toMatchObject({
          push_name: "Loja São João",
          about: "Open until six",
        });
      });

      it("changes its picture and removes it", async () => {
        done(await session.profile.setPicture(JPEG));
        expect((await world.phone()).has_picture).toBe(true);
        expect(done(await session.profile.get()).picture_url).toMatch(/^https?:\/\//);
        done(await session.profile.setPicture(null));
        expect((await world.phone()).has_picture).toBe(false);
        expect(done(await session.profile.get()).picture_url).toBeNull();
      });
    });

    describe("about groups", () => {
      it("makes one, with a result for each person", async () => {
        const ana = await world.addPerson();
        const shy = await world.addPerson({ refusesGroups: true });
        const people = [ana.jid, shy.jid, stage.nobody];
        const { group, results } = done(await session.groups.create("Trip", people));
        expect(results).toEqual([
          { jid: ana.jid, status: 200 },
          { jid: shy.jid, status: 403 },
          { jid: stage.nobody, status: 404 },
        ]);
        expect(group).toMatchObject({
          subject: "Trip",
          description: null,
          owner: phoneJid(phone),
          announce: false,
          locked: false,
          created_at: expect.any(Date),
        });
        expect(group.participants).toHaveLength(2);
        expect(group.participants).toContainEqual({ jid: ana.jid, lid: LID, phone: ana.number, admin: null });
        expect(group.participants.find((one) => one.phone === phone)?.admin).toBe("superadmin");
        expect((await world.group(group.jid)).members).toEqual({ [phone]: true, [ana.number]: false });
      });

      it("lists those that the phone is in, and tells of one", async () => {
        const mine = await ownGroup(contact);
        const theirs = await world.addGroup("Theirs", [contact]);
        const listed = done(await session.groups.list());
        expect(listed.map((one) => one.jid)).toContain(mine);
        expect(listed.map((one) => one.jid)).not.toContain(theirs);
        const group = done(await session.groups.get(mine));
        expect(listed.find((one) => one.jid === mine)).toEqual(group);
        expect(group.participants.map((one) => [one.phone, one.admin])).toEqual([
          [phone, "superadmin"],
          [contact, null],
        ]);
      });

      it("sees the change of a group at once, also one of its own", async () => {
        const group = await ownGroup(contact);
        done(await session.groups.get(group));
        done(await session.groups.update(group, { subject: "Renamed" }));
        expect(done(await session.groups.get(group)).subject).toBe("Renamed");
      });

      it("adds, promotes, demotes and removes, with a result for each person", async () => {
        const ana = await world.addPerson();
        const shy = await world.addPerson({ refusesGroups: true });
        const group = await ownGroup(contact);
        const act = async (action: ParticipantAction, ...people: Jid[]) =>
          done(await session.groups.updateParticipants(group, action, people));
        expect(await act("add", ana.jid, shy.jid, stage.nobody, stage.contact.jid)).toEqual([
          { jid: ana.jid, status: 200 },
          { jid: shy.jid, status: 403 },
          { jid: stage.nobody, status: 404 },
          { jid: stage.contact.jid, status: 409 },
        ]);
        expect(await act("promote", ana.jid, shy.jid)).toEqual([
          { jid: ana.jid, status: 200 },
          { jid: shy.jid, status: 404 },
        ]);
        expect((await world.group(group)).members).toEqual({
          [phone]: true,
          [contact]: false,
          [ana.number]: true,
        });
        expect(await act("demote", ana.jid)).toEqual([{ jid: ana.jid, status: 200 }]);
        expect(await act("remove", ana.jid, shy.jid)).toEqual([
          { jid: ana.jid, status: 200 },
          { jid: shy.jid, status: 404 },
        ]);
        expect((await world.group(group)).members).toEqual({ [phone]: true, [contact]: false });
      });

      it("changes each of the settings", async () => {
        const group = await ownGroup(contact);
        const changes: GroupChange[] = [
          { subject: "New name" },
          { description: "What it is for" },
          { image: JPEG },
          { announce: true },
          { locked: true },
        ];
        for (const change of changes) done(await session.groups.update(group, change));
        expect(await world.group(group)).toMatchObject({
          subject: "New name",
          description: "What it is for",
          has_picture: true,
          announce: true,
          locked: true,
        });
        const opposites: GroupChange[] = [
          { description: "" },
          { image: null },
          { announce: false },
          { locked: false },
        ];
        for (const change of opposites) done(await session.groups.update(group, change));
        expect(await world.group(group)).toMatchObject({
          description: null,
          has_picture: false,
          announce: false,
          locked: false,
        });
      });

      it("is refused what only admins may do", async () => {
        const { jid } = await world.addPerson();
        const group = await world.addGroup("Theirs", [contact, phone]);
        const { groups } = session;
        expect(await groups.updateParticipants(group, "promote", [jid])).toMatchObject(refused("FORBIDDEN"));
        expect(await groups.update(group, { announce: true })).toMatchObject(refused("FORBIDDEN"));
        await world.changeGroup(contact, group, { locked: true });
        expect(await groups.update(group, { subject: "Mine" })).toMatchObject(refused("FORBIDDEN"));
        expect(await groups.update(group, { image: JPEG })).toMatchObject(refused("FORBIDDEN"));
        expect((await world.group(group)).subject).toBe("Theirs");
      });

      it("is refused in a group that it is not in, and in one that is not there", async () => {
        const theirs = await world.addGroup("Theirs", [contact]);
        const { groups } = session;
        expect(await groups.get(theirs)).toMatchObject(refused("FORBIDDEN"));
        expect(await groups.update(theirs, { subject: "Mine" })).toMatchObject(refused("FORBIDDEN"));
        expect(await groups.invite(theirs)).toMatchObject(refused("FORBIDDEN"));
        const sent = session.send(theirs, { kind: "text", text: "Hi" }, { id: newMessageId() });
        expect(await sent).toMatchObject({ ...refused("SEND_FAILED"), retryable: false });
        expect(await groups.get(NOBODY_GROUP)).toMatchObject(refused("NOT_FOUND"));
        expect(await groups.updateParticipants(NOBODY_GROUP, "add", [stage.contact.jid])).toMatchObject(
          refused("NOT_FOUND"),
        );
        expect(await groups.leave(theirs)).toMatchObject(refused("NOT_FOUND"));
        expect(await groups.leave(NOBODY_GROUP)).toMatchObject(refused("NOT_FOUND"));
        const toNobody = session.send(NOBODY_GROUP, { kind: "text", text: "Hi" }, { id: newMessageId() });
        expect(await toNobody).toMatchObject({ ...refused("SEND_FAILED"), retryable: false });
      });

      it("invites, joins by invitation and leaves", async () => {
        const mine = await ownGroup(contact);
        expect(done(await session.groups.invite(mine))).toBe((await world.group(mine)).invite);
        const theirs = await world.addGroup("Theirs", [contact]);
        const { invite } = await world.group(theirs);
        expect(done(await session.groups.join(invite))).toBe(theirs);
        expect((await world.group(theirs)).members).toHaveProperty(phone, false);
        done(await session.groups.leave(theirs));
        expect((await world.group(theirs)).members).not.toHaveProperty(phone);
        expect(await session.groups.get(theirs)).toMatchObject(refused("FORBIDDEN"));
        expect(await session.groups.join("NoSuchInvitation123456")).toMatchObject(refused("NOT_FOUND"));
      });

      it.each<[string, GroupChange, object]>([
        ["subject", { subject: "Other" }, { subject: "Other" }],
        ["description", { description: "Why" }, { description: "Why" }],
        ["announce setting", { announce: true }, { announce: true }],
        ["locked setting", { locked: true }, { locked: true }],
      ])("tells of a new %s, and whose it is", async (_, change, expected) => {
        const group = await world.addGroup("Theirs", [contact, phone]);
        await world.changeGroup(contact, group, change);
        const told = await changeOf(group, (one) => Object.keys(expected).every((key) => key in one));
        expect(told).toMatchObject({ ...expected, by: { phone: contact } });
      });

      it("tells who came, went and became what in a group, and by whom", async () => {
        const { number, jid } = await world.addPerson();
        const group = await world.addGroup("Theirs", [contact, phone]);
        for (const action of ["add", "promote", "demote", "remove"] as const) {
          await world.changeGroup(contact, group, { action, who: [number] });
          const told = await changeOf(group, (change) => change.participants?.action === action);
          expect(told).toMatchObject({
            participants: { action, who: [{ jid, lid: LID, phone: number }] },
            by: { phone: contact },
          });
          expect(told.left).toBeUndefined();
        }
      });

      it("tells that it was put into a group, and that it was removed from it", async () => {
        const group = await world.addGroup("Theirs", [contact]);
        await world.changeGroup(contact, group, { action: "add", who: [phone] });
        const added = await changeOf(group, (change) => change.participants?.action === "add");
        expect(added.participants?.who).toMatchObject([{ phone }]);
        await world.changeGroup(contact, group, { action: "remove", who: [phone] });
        const removed = await changeOf(group, (change) => change.left === true);
        expect(removed.by?.phone).toBe(contact);
      });
    });

    it("rejects a call", async () => {
      const before = listener.all("call_received").length;
      await stage.contact.calls();
      const { call_id, from } = await listener.heard("call_received", before + 1);
      done(await session.rejectCall(call_id, from.jid));
      await eventually(async () => expect(await world.rejectedCalls()).toContain(call_id));
    });

    it("answers nothing while it is not connected", async () => {
      const { session } = new Listener(stage.driver, stage.credentials());
      const group = await ownGroup(contact);
      const answers = await Promise.all([
        session.contacts?.check([contact]),
        session.chats?.setState(stage.contact.jid, { archived: true }),
        session.profile?.get(),
        session.groups?.get(group),
        session.rejectCall?.("CALL", stage.contact.jid),
      ]);
      expect(answers.map((one) => one?.outcome)).toEqual(Array(answers.length).fill("failed"));
    });
  });
}

/** What was asked for; an answer of another kind fails the test. */
function done<Value>(result: CallResult<Value>): Value {
  if (result.outcome !== "done") expect.fail(`not done: ${JSON.stringify(result)}`);
  return result.value;
}

function refused(code: string) {
  return { outcome: "refused", code, reason: expect.any(String) };
}

function digits(jid: Jid): string {
  return jid.replace(/@.*/, "");
}

function hourFromNow(): Date {
  return new Date(Date.now() + HOUR_MS);
}

const LID = expect.stringMatching(/^\d+@lid$/);

/** The smallest JPEG that a decoder takes: one grey pixel. */
const JPEG = Buffer.from(
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==",
  "base64",
);
