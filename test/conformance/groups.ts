import { describe, expect, it } from "vitest";
import type { Jid } from "../../src/network/driver.ts";
import type { GroupChange, ParticipantAction } from "../../src/network/groups.ts";
import { groupJid, newMessageId, phoneJid } from "../../src/network/jid.ts";
import type { OperationStory } from "./operation-story.ts";
import { done, JPEG, LID, refused } from "./operation-story.ts";

const NOBODY_GROUP = groupJid("120363999999999999");

export function describeGroups(story: OperationStory): void {
  describe("groups", () => {
    it("creates a group, with a result for each person", async () => {
      const ana = await story.world.addPerson();
      const shy = await story.world.addPerson({ refusesGroups: true });
      const people = [ana.jid, shy.jid, story.stage.unregisteredJid];
      const { group, results } = done(await story.session.groups.create("Trip", people));
      expect(results).toEqual([
        { jid: ana.jid, status: 200 },
        { jid: shy.jid, status: 403 },
        { jid: story.stage.unregisteredJid, status: 404 },
      ]);
      expect(group).toMatchObject({
        subject: "Trip",
        description: null,
        owner: phoneJid(story.phone),
        announce: false,
        locked: false,
        created_at: expect.any(Date),
      });
      expect(group.participants).toHaveLength(2);
      expect(group.participants).toContainEqual({ jid: ana.jid, lid: LID, phone: ana.number, admin: null });
      expect(group.participants.find((one) => one.phone === story.phone)?.admin).toBe("superadmin");
      expect((await story.world.group(group.jid)).members).toEqual({
        [story.phone]: true,
        [ana.number]: false,
      });
    });

    it("lists the groups of the phone, and returns one of them", async () => {
      const mine = await story.ownGroup(story.contact);
      const theirs = await story.world.addGroup("Theirs", [story.contact]);
      const listed = done(await story.session.groups.list());
      expect(listed.map((one) => one.jid)).toContain(mine);
      expect(listed.map((one) => one.jid)).not.toContain(theirs);
      const group = done(await story.session.groups.get(mine));
      expect(listed.find((one) => one.jid === mine)).toEqual(group);
      expect(group.participants.map((one) => [one.phone, one.admin])).toEqual([
        [story.phone, "superadmin"],
        [story.contact, null],
      ]);
    });

    it("sees a change of a group at once, also its own change", async () => {
      const group = await story.ownGroup(story.contact);
      done(await story.session.groups.get(group));
      done(await story.session.groups.update(group, { subject: "Renamed" }));
      expect(done(await story.session.groups.get(group)).subject).toBe("Renamed");
    });

    it("adds, promotes, demotes and removes members, with a result for each person", async () => {
      const ana = await story.world.addPerson();
      const shy = await story.world.addPerson({ refusesGroups: true });
      const group = await story.ownGroup(story.contact);
      const act = async (action: ParticipantAction, ...people: Jid[]) =>
        done(await story.session.groups.updateParticipants(group, action, people));
      expect(
        await act("add", ana.jid, shy.jid, story.stage.unregisteredJid, story.stage.contact.jid),
      ).toEqual([
        { jid: ana.jid, status: 200 },
        { jid: shy.jid, status: 403 },
        { jid: story.stage.unregisteredJid, status: 404 },
        { jid: story.stage.contact.jid, status: 409 },
      ]);
      expect(await act("promote", ana.jid, shy.jid)).toEqual([
        { jid: ana.jid, status: 200 },
        { jid: shy.jid, status: 404 },
      ]);
      expect((await story.world.group(group)).members).toEqual({
        [story.phone]: true,
        [story.contact]: false,
        [ana.number]: true,
      });
      expect(await act("demote", ana.jid)).toEqual([{ jid: ana.jid, status: 200 }]);
      expect(await act("remove", ana.jid, shy.jid)).toEqual([
        { jid: ana.jid, status: 200 },
        { jid: shy.jid, status: 404 },
      ]);
      expect((await story.world.group(group)).members).toEqual({
        [story.phone]: true,
        [story.contact]: false,
      });
    });

    it("changes each of the group settings", async () => {
      const group = await story.ownGroup(story.contact);
      const changes: GroupChange[] = [
        { subject: "New name" },
        { description: "What it is for" },
        { image: JPEG },
        { announce: true },
        { locked: true },
        { join_approval: true },
        { members_can_add: false },
      ];
      for (const change of changes) done(await story.session.groups.update(group, change));
      expect(await story.world.group(group)).toMatchObject({
        subject: "New name",
        description: "What it is for",
        has_picture: true,
        announce: true,
        locked: true,
        join_approval: true,
        members_can_add: false,
      });
      expect(done(await story.session.groups.get(group))).toMatchObject({
        join_approval: true,
        members_can_add: false,
      });
      const opposites: GroupChange[] = [
        { description: "" },
        { image: null },
        { announce: false },
        { locked: false },
        { join_approval: false },
        { members_can_add: true },
      ];
      for (const change of opposites) done(await story.session.groups.update(group, change));
      expect(await story.world.group(group)).toMatchObject({
        description: null,
        has_picture: false,
        announce: false,
        locked: false,
        join_approval: false,
        members_can_add: true,
      });
    });

    it("lets members add people only where the group lets them", async () => {
      const [ana, bia] = [await story.world.addPerson(), await story.world.addPerson()];
      const group = await story.world.addGroup("Theirs", [story.contact, story.phone]);
      const { groups } = story.session;
      expect(done(await groups.updateParticipants(group, "add", [ana.jid]))).toEqual([
        { jid: ana.jid, status: 200 },
      ]);
      await story.world.changeGroup(story.contact, group, { members_can_add: false });
      expect(await groups.updateParticipants(group, "add", [bia.jid])).toMatchObject(refused("FORBIDDEN"));
      const { members } = await story.world.group(group);
      expect(Object.keys(members).sort()).toEqual([story.contact, story.phone, ana.number].sort());
    });

    it("is refused operations that are for admins only", async () => {
      const { jid } = await story.world.addPerson();
      const group = await story.world.addGroup("Theirs", [story.contact, story.phone]);
      const { groups } = story.session;
      expect(await groups.updateParticipants(group, "promote", [jid])).toMatchObject(refused("FORBIDDEN"));
      for (const change of [{ announce: true }, { join_approval: true }, { members_can_add: false }])
        expect(await groups.update(group, change)).toMatchObject(refused("FORBIDDEN"));
      expect(await groups.revokeInvite(group)).toMatchObject(refused("FORBIDDEN"));
      expect(await groups.requests(group)).toMatchObject(refused("FORBIDDEN"));
      expect(await groups.updateRequests(group, "approve", [jid])).toMatchObject(refused("FORBIDDEN"));
      await story.world.changeGroup(story.contact, group, { locked: true });
      expect(await groups.update(group, { subject: "Mine" })).toMatchObject(refused("FORBIDDEN"));
      expect(await groups.update(group, { image: JPEG })).toMatchObject(refused("FORBIDDEN"));
      expect((await story.world.group(group)).subject).toBe("Theirs");
    });

    it("is refused operations in a group that it is not in, and in one that does not exist", async () => {
      const theirs = await story.world.addGroup("Theirs", [story.contact]);
      const { groups } = story.session;
      expect(await groups.get(theirs)).toMatchObject(refused("FORBIDDEN"));
      expect(await groups.update(theirs, { subject: "Mine" })).toMatchObject(refused("FORBIDDEN"));
      expect(await groups.invite(theirs)).toMatchObject(refused("FORBIDDEN"));
      const sent = story.session.send(theirs, { kind: "text", text: "Hi" }, { id: newMessageId() });
      expect(await sent).toMatchObject({ ...refused("RECIPIENT_NOT_FOUND"), retryable: false });
      expect(await groups.get(NOBODY_GROUP)).toMatchObject(refused("NOT_FOUND"));
      expect(await groups.updateParticipants(NOBODY_GROUP, "add", [story.stage.contact.jid])).toMatchObject(
        refused("NOT_FOUND"),
      );
      expect(await groups.leave(theirs)).toMatchObject(refused("NOT_FOUND"));
      expect(await groups.leave(NOBODY_GROUP)).toMatchObject(refused("NOT_FOUND"));
      const toNobody = story.session.send(NOBODY_GROUP, { kind: "text", text: "Hi" }, { id: newMessageId() });
      expect(await toNobody).toMatchObject({ ...refused("RECIPIENT_NOT_FOUND"), retryable: false });
    });

    it("joins a group by an invitation, and leaves it", async () => {
      const mine = await story.ownGroup(story.contact);
      expect(done(await story.session.groups.invite(mine))).toBe((await story.world.group(mine)).invite);
      const theirs = await story.world.addGroup("Theirs", [story.contact]);
      const { invite } = await story.world.group(theirs);
      expect(done(await story.session.groups.join(invite))).toBe(theirs);
      expect((await story.world.group(theirs)).members).toHaveProperty(story.phone, false);
      done(await story.session.groups.leave(theirs));
      expect((await story.world.group(theirs)).members).not.toHaveProperty(story.phone);
      expect(await story.session.groups.get(theirs)).toMatchObject(refused("FORBIDDEN"));
      expect(await story.session.groups.join("NoSuchInvitation123456")).toMatchObject(refused("NOT_FOUND"));
    });

    it("sees the group of an invitation before it joins, and nothing by one that was revoked", async () => {
      const theirs = await story.world.addGroup("Theirs", [story.contact]);
      const { invite } = await story.world.group(theirs);
      expect(done(await story.session.groups.preview(invite))).toEqual({
        jid: theirs,
        subject: "Theirs",
        description: null,
        owner: story.stage.contact.jid,
        join_approval: false,
        created_at: expect.any(Date),
        size: 1,
      });
      expect((await story.world.group(theirs)).members).not.toHaveProperty(story.phone);
      const mine = await story.ownGroup(story.contact);
      const old = done(await story.session.groups.invite(mine));
      const renewed = done(await story.session.groups.revokeInvite(mine));
      expect(renewed).not.toBe(old);
      expect((await story.world.group(mine)).invite).toBe(renewed);
      expect(await story.session.groups.preview(old)).toMatchObject(refused("NOT_FOUND"));
      expect(await story.session.groups.join(old)).toMatchObject(refused("NOT_FOUND"));
      expect(done(await story.session.groups.preview(renewed)).jid).toBe(mine);
    });

    it("asks to join a group whose admins approve it, and is no member until then", async () => {
      const theirs = await story.world.addGroup("Theirs", [story.contact]);
      await story.world.changeGroup(story.contact, theirs, { join_approval: true });
      const { invite } = await story.world.group(theirs);
      expect(await story.session.groups.join(invite)).toMatchObject(refused("CONFLICT"));
      const { members, requests } = await story.world.group(theirs);
      expect([Object.keys(members), requests]).toEqual([[story.contact], [story.phone]]);
    });

    it("hears who asks to join its group, approves one and rejects another", async () => {
      const [ana, bia, cid] = [
        await story.world.addPerson(),
        await story.world.addPerson(),
        await story.world.addPerson(),
      ];
      const group = await story.ownGroup(story.contact);
      const { groups } = story.session;
      done(await groups.update(group, { join_approval: true }));
      for (const { number } of [ana, bia]) await story.world.joinGroup(number, group);
      const asked = await story.findEvent(
        "group_join_requested",
        (event) => event.group === group && event.who.some(({ phone }) => phone === bia.number),
      );
      expect(asked).toMatchObject({ method: "invite_link", at: expect.any(Date) });
      expect(asked.who).toMatchObject([{ jid: bia.jid, lid: LID, phone: bia.number }]);
      const waiting = done(await groups.requests(group));
      expect(waiting.map(({ who }) => who.phone)).toEqual([ana.number, bia.number]);
      expect(waiting[0]).toMatchObject({
        who: { jid: ana.jid, lid: LID },
        method: "invite_link",
        requested_at: expect.any(Date),
      });
      expect(done(await groups.updateRequests(group, "approve", [ana.jid, cid.jid]))).toEqual([
        { jid: ana.jid, status: 200 },
        { jid: cid.jid, status: 404 },
      ]);
      const byLid = waiting[1]?.who.lid as Jid;
      expect(done(await groups.updateRequests(group, "reject", [byLid]))).toEqual([
        { jid: byLid, status: 200 },
      ]);
      expect(done(await groups.requests(group))).toEqual([]);
      expect((await story.world.group(group)).members).toEqual({
        [story.phone]: true,
        [story.contact]: false,
        [ana.number]: false,
      });
    });

    it.each<[string, GroupChange, object]>([
      ["subject", { subject: "Other" }, { subject: "Other" }],
      ["description", { description: "Why" }, { description: "Why" }],
      ["announce setting", { announce: true }, { announce: true }],
      ["locked setting", { locked: true }, { locked: true }],
      ["approval of who joins", { join_approval: true }, { join_approval: true }],
      ["rule for who adds members", { members_can_add: false }, { members_can_add: false }],
    ])("reports a new %s, and to which group it belongs", async (_, change, expected) => {
      const group = await story.world.addGroup("Theirs", [story.contact, story.phone]);
      await story.world.changeGroup(story.contact, group, change);
      const reported = await story.changeOf(group, (one) => Object.keys(expected).every((key) => key in one));
      expect(reported).toMatchObject({ ...expected, by: { phone: story.contact } });
    });

    it("reports who joined, left or changed the role in a group, and by whom", async () => {
      const { number, jid } = await story.world.addPerson();
      const group = await story.world.addGroup("Theirs", [story.contact, story.phone]);
      for (const action of ["add", "promote", "demote", "remove"] as const) {
        await story.world.changeGroup(story.contact, group, { action, who: [number] });
        const reported = await story.changeOf(group, (change) => change.participants?.action === action);
        expect(reported).toMatchObject({
          participants: { action, who: [{ jid, lid: LID, phone: number }] },
          by: { phone: story.contact },
        });
        expect(reported.left).toBeUndefined();
      }
    });

    it("reports that it was added to a group, and that it was removed from it", async () => {
      const group = await story.world.addGroup("Theirs", [story.contact]);
      await story.world.changeGroup(story.contact, group, { action: "add", who: [story.phone] });
      const added = await story.changeOf(group, (change) => change.participants?.action === "add");
      expect(added.participants?.who).toMatchObject([{ phone: story.phone }]);
      await story.world.changeGroup(story.contact, group, { action: "remove", who: [story.phone] });
      const removed = await story.changeOf(group, (change) => change.left === true);
      expect(removed.by?.phone).toBe(story.contact);
    });
  });
}
