import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newPhone, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { blackPng, inBase64, SAMPLE } from "../../../test/sample-files.ts";
import { type FileServer, file, startFileServer } from "../../../test/servers/file-server.ts";
import { type MessagingStory, startMessagingStory } from "../../../test/stories/messaging-story.ts";

import type { Group } from "../../network/groups.ts";
import { recordGroupChange } from "./groups.ts";

const ANA = "5511988881111";
const SHY = "5511988880006";
const ADMIN = "5511988882222";

let story: MessagingStory;
let files: FileServer;
let sales: TestInstance;
let friend: TestInstance;

beforeAll(async () => {
  story = await startMessagingStory();
  ({ sales, friend } = story);
  await sales.client.updateDefaultWebhook({
    id: sales.id,
    events: ["message.*", "group.updated", "group.join_requested"],
  });
  files = await startFileServer();
  files.serve("/photo.png", file(SAMPLE.png, "image/png"));
  files.serve("/huge.png", file(blackPng(20_000), "image/png"));
});

afterAll(async () => {
  await files.close();
  await story.stop();
});

const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;

const request = (http: string, body?: object) => {
  const [method, path] = http.split(" ");
  return story.request(`${method} /api/v1/instances/${sales.id}/${path}`, body);
};

/** A group of the shop with these members. */
async function makeGroup(...participants: string[]) {
  const { data } = await sales.client.createGroup({
    id: sales.id,
    name: "Team",
    participants: [ANA, ...participants],
  });
  return data;
}

/** A contact's group with the shop as a member. */
async function otherGroup(input: { admin?: boolean; participants?: string[] } = {}) {
  const made = { id: sales.id, from: ADMIN, subject: "Theirs", ...input };
  const { jid } = (await sales.client.sandboxGroup(made)).data;
  const known = "select from group_chat where instance_id = $1 and jid = $2";
  await waitUntil(async () => (await story.gateway.database.pool.query(known, [sales.id, jid])).rowCount);
  return jid;
}

const getGroup = async (jid: string, refresh = false) =>
  (await sales.client.getGroup({ id: sales.id, jid, refresh })).data;

/** Group requests that reached the network. */
const asked = async (action: string) => (await story.ledger({ action })).length;

/** Moves the last network request into the past. */
const age = (minutes: number) =>
  story.gateway.database.pool.query(
    `with list as (update group_list set read_at = read_at - $1 * interval '1 minute')
     update group_chat set read_at = read_at - $1 * interval '1 minute'`,
    [minutes],
  );

const roles = (group: { participants: { phone: string | null; admin: string | null }[] }) =>
  Object.fromEntries(group.participants.map(({ phone, admin }) => [phone, admin]));

describe("creating a group", () => {
  test("keeps the group's settings if the report of its creation is stored later", async () => {
    const made = { name: "Late news", description: "Set at once", participants: [ANA] };
    const { jid } = (await sales.client.createGroup({ id: sales.id, ...made })).data;
    const { database, gateway } = story.gateway;
    const { rows } = await database.pool.query("select id, account_id from instance where id = $1", [
      sales.id,
    ]);
    const at = new Date(Date.now() - 1_000);
    const group: Group = {
      jid: jid as Group["jid"],
      subject: made.name,
      description: null,
      owner: null,
      participants: [],
      announce: false,
      locked: false,
      join_approval: false,
      members_can_add: true,
      created_at: at,
    };
    const report = { type: "group_updated", group: group.jid, at, change: { group } } as const;
    const parts = { db: database.db, engine: gateway.engine };
    await recordGroupChange(parts, rows[0], report, { ignore_groups: false });
    expect(await getGroup(jid)).toMatchObject({ description: made.description, size: 2 });
  });

  test("accepts Brazilian numbers with and without the ninth digit", async () => {
    const checks = await asked("check");
    const participants = ["5521988880007", "5521977770007", "552196666000"];
    const { data } = await sales.client.createGroup({ id: sales.id, name: "Rio", participants });
    expect(data.results.map(({ jid, status }) => [jid, status])).toEqual([
      [jidOf("552188880007"), 200],
      [jidOf("552177770007"), 200],
      [jidOf("552196666000"), 200],
    ]);
    expect(await asked("check")).toBe(checks + 1);
  });

  test("accepts the field names of other products", async () => {
    const { body } = await request("POST groups", { subject: "WAHA", participants: [{ id: `${ANA}@c.us` }] });
    expect(body.data).toMatchObject({ name: "WAHA", size: 2 });
    const added = await request("POST groups/participants", {
      groupJid: body.data.jid,
      action: "add",
      participants: [friend.phone],
    });
    expect(added.body.data).toEqual([{ jid: jidOf(friend.phone), status: 200, success: true, error: null }]);
  });
});

test("the creator of a group cannot be removed, and the result says so", async () => {
  const { jid } = await makeGroup();
  const participants = [ANA, sales.phone];
  const { data } = await sales.client.updateGroupParticipants({
    id: sales.id,
    jid,
    action: "remove",
    participants,
  });
  expect(data.map(({ status, success }) => [status, success])).toEqual([
    [200, true],
    [405, false],
  ]);
});

describe("settings of a group", () => {
  test("take an image by its address, as a square", async () => {
    const { jid } = await makeGroup();
    const { body } = await request("POST groups/settings", { jid, image: files.at("/photo.png") });
    expect(body.data.applied).toEqual(["image"]);
    const { rows } = await story.gateway.database.pool.query(
      "select bytes from sandbox.picture p join sandbox.group_chat g on g.picture = p.id where g.jid = $1",
      [jid],
    );
    expect(await sharp(rows[0].bytes).metadata()).toMatchObject({ format: "jpeg", width: 640, height: 640 });
  });

  test("accept an image as a part of a form", async () => {
    const { jid } = await makeGroup();
    const image = { bytes: SAMPLE.png, file_name: "a.png" };
    const { data } = await sales.client.updateGroupSettings({ id: sales.id, jid, locked: true, image });
    expect(data.applied).toEqual(["image", "locked"]);
  });

  test.each<[string, () => unknown, number, string]>([
    ["that is none", () => inBase64(SAMPLE.text), 400, "VALIDATION_ERROR"],
    ["of 20,000 by 20,000 pixels", () => files.at("/huge.png"), 400, "VALIDATION_ERROR"],
    ["that is not there", () => files.at("/missing.png"), 502, "MEDIA_DOWNLOAD_FAILED"],
  ])("with an image %s are refused whole", async (_, image, status, code) => {
    const { jid } = await makeGroup();
    const response = await request("POST groups/settings", { jid, name: "Half", image: image() });
    expect([response.status, response.body.code]).toEqual([status, code]);
    if (status === 400) expect(response.body.details.fields[0].field).toBe("image");
    expect((await getGroup(jid)).name).toBe("Team");
  });

  test("return one error with all of them if the network rejects all", async () => {
    const jid = await otherGroup();
    const { body, status } = await request("POST groups/settings", { jid, locked: true, announce: true });
    expect([status, body.code, body.details.applied]).toEqual([403, "FORBIDDEN", []]);
    expect(body.details.errors.map((one: { setting: string }) => one.setting)).toEqual([
      "announce",
      "locked",
    ]);
    const nothing = await request("POST groups/settings", { jid });
    expect([nothing.status, nothing.body.code]).toEqual([400, "VALIDATION_ERROR"]);
  });
});

describe("group invitations", () => {
  test("are shown to admins, and let another instance join by link or code", async () => {
    const { jid } = await makeGroup();
    const { data } = await sales.client.getGroupInvite({ id: sales.id, jid });
    expect(data).toEqual({ jid, code: data.code, url: `https://chat.whatsapp.com/${data.code}` });
    const joined = await friend.client.joinGroup({ id: friend.id, code: `${data.url}` });
    expect(joined.data).toEqual({ jid });
    expect(roles((await friend.client.getGroup({ id: friend.id, jid })).data)).toHaveProperty(
      [friend.phone],
      null,
    );
    for (const link of [`${data.url}?mode=ac_t`, `${data.url}/`, `${data.code}/?mode=ems_copy_t#x`]) {
      await friend.client.leaveGroup({ id: friend.id, jid });
      expect((await friend.client.joinGroup({ id: friend.id, code: link })).data).toEqual({ jid });
    }
    await expect(friend.client.getGroupInvite({ id: friend.id, jid })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    await waitUntil(async () => friend.phone in roles(await getGroup(jid)));
    expect((await friend.client.leaveGroup({ id: friend.id, jid })).data).toEqual({ jid });
    await waitUntil(async () => !(friend.phone in roles(await getGroup(jid))));
    await expect(friend.client.getGroup({ id: friend.id, jid })).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("requests to join a group", () => {
  test("are reported, listed, and approved or rejected for each person", async () => {
    const { jid } = await makeGroup();
    const { id, client } = sales;
    await client.updateGroupSettings({ id, jid, join_approval: true, members_can_add: false });
    expect(await getGroup(jid)).toMatchObject({ join_approval: true, members_can_add: false });
    const [bia, caio, dina] = [newPhone(), newPhone(), newPhone()];
    await client.sandboxContact({ id, from: bia, push_name: "Bia" });
    for (const from of [bia, caio])
      expect((await client.sandboxGroupJoin({ id, from, group_jid: jid })).data).toEqual({
        jid,
        is_waiting: true,
      });
    const [event] = await story.receiver.waitFor(
      ({ body }) => body.event === "group.join_requested" && body.data.person.phone === bia,
    );
    expect(event?.body.data).toEqual({
      jid,
      person: { jid: jidOf(bia), lid: expect.any(String), phone: bia, push_name: "Bia" },
      method: "invite_link",
      at: expect.any(String),
    });
    const waiting = (await client.listJoinRequests({ id, jid })).data;
    expect(waiting.map(({ phone, push_name }) => [phone, push_name])).toEqual([
      [bia, "Bia"],
      [caio, null],
    ]);
    const first = await client.listJoinRequests({ id, jid, limit: 1 });
    const cursor = first.pagination.next_cursor ?? "";
    const second = await client.listJoinRequests({ id, jid, limit: 1, cursor });
    expect([...first.data, ...second.data].map(({ phone }) => phone)).toEqual([bia, caio]);
    expect(second.pagination.has_more).toBe(false);
    const answer = async (action: "approve" | "reject", ...participants: string[]) =>
      (await client.answerJoinRequests({ id, jid, action, participants })).data;
    expect(await answer("approve", bia, dina)).toEqual([
      { jid: jidOf(bia), status: 200, success: true, error: null },
      { jid: jidOf(dina), status: 404, success: false, error: "has not asked to join the group" },
    ]);
    expect(await answer("reject", caio)).toMatchObject([{ success: true }]);
    expect((await client.listJoinRequests({ id, jid })).data).toEqual([]);
    const { [bia]: role, ...others } = roles(await getGroup(jid));
    expect([role, caio in others]).toEqual([null, false]);
  });

  test("are made by an instance that joins by the link, which a preview announces", async () => {
    const { jid } = await makeGroup();
    await sales.client.updateGroupSettings({ id: sales.id, jid, join_approval: true });
    const { data: invite } = await sales.client.getGroupInvite({ id: sales.id, jid });
    const { client, id } = friend;
    expect((await client.previewGroup({ id, code: invite.url })).data).toEqual({
      jid,
      name: "Team",
      subject: "Team",
      description: null,
      owner: jidOf(sales.phone),
      size: expect.any(Number),
      join_approval: true,
      created_at: expect.any(String),
    });
    const joining = client.joinGroup({ id, code: invite.url });
    await expect(joining).rejects.toMatchObject({ code: "CONFLICT" });
    const answer = { id: sales.id, jid, action: "approve" as const, participants: [friend.phone] };
    expect((await sales.client.answerJoinRequests(answer)).data).toMatchObject([{ success: true }]);
    expect((await client.getGroup({ id, jid })).data.name).toBe("Team");
    await expect(client.listJoinRequests({ id, jid })).rejects.toMatchObject({ code: "FORBIDDEN" });
    const { data: renewed } = await sales.client.revokeGroupInvite({ id: sales.id, jid });
    expect(renewed.code).not.toBe(invite.code);
    await expect(client.previewGroup({ id, code: invite.code })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(client.previewGroup({ id, code: "no code" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });
});

describe("activity in a group", () => {
  const eventsOf = (jid: string, change: string) =>
    story.receiver.waitFor(({ body }) => {
      if (body.event !== "group.updated" || body.data.jid !== jid) return false;
      return change in body.data.change;
    });

  test("is reported as an event, and updates the group without a request to the network", async () => {
    const jid = await otherGroup();
    await getGroup(jid);
    const questions = await asked("group");
    const settings = { id: sales.id, from: ADMIN, group_jid: jid };
    await sales.client.sandboxGroupSettings({ ...settings, subject: "Renamed", announce: true });
    const [event] = await eventsOf(jid, "subject");
    expect(event?.body.data).toMatchObject({
      jid,
      at: expect.any(String),
      by: { jid: jidOf(ADMIN), phone: ADMIN },
      change: { subject: "Renamed" },
    });
    await eventsOf(jid, "announce");
    await sales.client.sandboxGroupParticipants({ ...settings, action: "add", participants: [ANA, SHY] });
    const [added] = await eventsOf(jid, "participants");
    expect(added?.body.data.change.participants).toMatchObject({
      action: "add",
      who: [{ phone: ANA, admin: null }],
    });
    await sales.client.sandboxGroupParticipants({ ...settings, action: "promote", participants: [ANA] });
    await waitUntil(async () => roles(await getGroup(jid))[ANA] === "admin");
    expect(await getGroup(jid)).toMatchObject({ name: "Renamed", announce: true, size: 3 });
    expect(await asked("group")).toBe(questions);
  });

  test("that removes the instance hides the group, which is shown again once it is added", async () => {
    const jid = await otherGroup();
    await getGroup(jid);
    const change = { id: sales.id, from: ADMIN, group_jid: jid, participants: [sales.phone] };
    await sales.client.sandboxGroupParticipants({ ...change, action: "remove" });
    await eventsOf(jid, "left");
    await expect(getGroup(jid)).rejects.toMatchObject({ code: "FORBIDDEN" });
    const { data } = await sales.client.listGroups({ id: sales.id, limit: 200 });
    expect(data.map((one) => one.jid)).not.toContain(jid);
    await sales.client.sandboxGroupParticipants({ ...change, action: "add" });
    await waitUntil(async () => (await sales.client.listGroups({ id: sales.id })).data[0]?.jid === jid);
  });

  test("that was never reported names its conversation after one request to the network", async () => {
    const group_jid = "120363777777770042@g.us";
    const says = async (text: string) => {
      const { data } = await sales.client.sandboxReceive({ id: sales.id, from: ANA, text, group_jid });
      const [event] = await story.receiver.waitFor(
        ({ body }) => body.event === "message.received" && body.data.message.message_id === data.message_id,
      );
      return event?.body.data.conversation;
    };
    const questions = await asked("group");
    await says("first");
    const known = "select title from conversation where instance_id = $1 and jid = $2";
    const title = async () =>
      (await story.gateway.database.pool.query(known, [sales.id, group_jid])).rows[0]?.title;
    await waitUntil(async () => (await title()) === "Group 0042");
    expect(await says("second")).toMatchObject({ jid: group_jid, title: "Group 0042" });
    expect(await asked("group")).toBe(questions + 1);
  });

  test("gives the conversation the name of the group", async () => {
    const { jid } = await makeGroup(friend.phone);
    const sent = await friend.client.sendText({ id: friend.id, jid, text: "Hello all" });
    const [event] = await story.receiver.waitFor(
      ({ body }) =>
        body.event === "message.received" && body.data.message.message_id === sent.data.message_id,
    );
    expect(event?.body.data).toMatchObject({
      message: { jid, is_group: true, sender: { phone: friend.phone } },
      conversation: { jid, title: "Team", type: "group" },
    });
    await sales.client.updateGroupSettings({ id: sales.id, jid, name: "Named" });
    const { rows } = await story.gateway.database.pool.query(
      "select title from conversation where instance_id = $1 and jid = $2",
      [sales.id, jid],
    );
    expect(rows).toEqual([{ title: "Named" }]);
  });
});

describe("the list of groups", () => {
  let shop: TestInstance;

  beforeEach(async () => {
    shop = await story.join({ name: "Lister" });
  });

  const groupOf = (subject: string) =>
    shop.client.sandboxGroup({ id: shop.id, from: ADMIN, subject }).then(({ data }) => data.jid);
  const list = (input: { limit?: number; cursor?: string; refresh?: boolean; participants?: boolean } = {}) =>
    shop.client.listGroups({ id: shop.id, ...input });
  const lists = async () => (await story.ledger({ action: "groups" })).length;

  test("is read from the network once, and then returned from the store with its age", async () => {
    await groupOf("One");
    const before = await lists();
    const first = await list();
    expect(first.data).toMatchObject([
      { name: "One", size: 2, participants: [{ phone: ADMIN }, { phone: shop.phone }] },
    ]);
    expect(first.refreshed_at).toEqual(expect.any(String));
    expect((await list()).refreshed_at).toBe(first.refreshed_at);
    expect((await list({ participants: false })).data).toMatchObject([{ size: 2, participants: [] }]);
    expect(await lists()).toBe(before + 1);
  });

  test("is read again on request, at most once a minute", async () => {
    await groupOf("One");
    const { refreshed_at } = await list();
    const before = await lists();
    expect((await list({ refresh: true })).refreshed_at).toBe(refreshed_at);
    expect(await lists()).toBe(before);
    await age(2);
    await Promise.all(Array.from({ length: 10 }, () => list({ refresh: true })));
    expect(await lists()).toBe(before + 1);
  });

  test("is read again after a change in a group that it does not have", async () => {
    await list();
    const before = await lists();
    const { database, gateway } = story.gateway;
    const { rows } = await database.pool.query("select id, account_id from instance where id = $1", [
      shop.id,
    ]);
    const group = "120363000000009999@g.us" as Group["jid"];
    const report = { type: "group_updated", group, at: new Date(), change: { subject: "New" } } as const;
    const parts = { db: database.db, engine: gateway.engine };
    await recordGroupChange(parts, rows[0], report, { ignore_groups: false });
    await list();
    expect(await lists()).toBe(before + 1);
  });

  test("excludes groups that the phone has left", async () => {
    const gone = await groupOf("Gone");
    await groupOf("Stays");
    await list();
    await story.gateway.database.pool.query("delete from sandbox.group_chat where jid = $1", [gone]);
    await age(2);
    expect((await list({ refresh: true })).data.map((one) => one.name)).toEqual(["Stays"]);
  });

  test("has pages, the newest first, which stay correct while groups are created", async () => {
    for (const name of ["A", "B", "C"]) await groupOf(name);
    const first = await list({ limit: 2 });
    expect(first.pagination).toMatchObject({ limit: 2, has_more: true });
    const late = await groupOf("Late");
    await waitUntil(async () => (await list({ limit: 1 })).data[0]?.jid === late);
    const second = await list({ limit: 2, cursor: first.pagination.next_cursor ?? undefined });
    expect([...first.data, ...second.data].map((one) => one.name).sort()).toEqual(["A", "B", "C"]);
    expect(second.pagination).toEqual({ limit: 2, next_cursor: null, has_more: false });
  });

  test("is unavailable after a logout, and shows no group of an earlier pairing", async () => {
    const jid = await groupOf("Kept");
    await list();
    await shop.client.logoutInstance({ id: shop.id });
    await expect(list()).rejects.toMatchObject({ code: "INSTANCE_NOT_CONNECTED" });
    const phone = newPhone();
    await shop.client.sandboxScan({ id: shop.id, phone });
    expect((await list()).data).toEqual([]);
    await expect(shop.client.getGroup({ id: shop.id, jid })).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  test("limits its requests to the network, rejects more with 429, but shows known groups", async () => {
    const jid = await groupOf("Asked");
    await shop.client.getGroup({ id: shop.id, jid });
    const refusals = await Promise.all(
      Array.from({ length: 25 }, (_, n) =>
        shop.client.getGroup({ id: shop.id, jid: `12036355555555${1000 + n}@g.us` }).catch((error) => error),
      ),
    );
    expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(["NOT_FOUND", "RATE_LIMITED"]));
    expect(refusals.find(({ code }) => code === "RATE_LIMITED")?.status).toBe(429);
    await age(2);
    expect((await shop.client.getGroup({ id: shop.id, jid, refresh: true })).data.name).toBe("Asked");
  });
});

describe("access to groups", () => {
  test("ends when the instance is removed, and the stored groups are deleted", async () => {
    const { id, client } = await story.join({ name: "Leaving" });
    await client.sandboxGroup({ id, from: ADMIN, subject: "Gone" });
    await client.listGroups({ id });
    await client.deleteInstance({ id });
    const rows = async () => {
      const { rows } = await story.gateway.database.pool.query(
        "select instance_id from group_chat where instance_id = $1 union select instance_id from group_list where instance_id = $1",
        [id],
      );
      return rows.length;
    };
    await waitUntil(async () => (await rows()) === 0);
  });
});
