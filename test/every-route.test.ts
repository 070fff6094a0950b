import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../src/client/client.ts";
import { contract } from "../src/contract.ts";
import { waitUntil } from "./gateway.ts";
import { inBase64, SAMPLE } from "./sample-files.ts";
import { type NetworkName, type NetworkSide, startNetworkSide } from "./stories/network-side.ts";

const TAGS = new Set(["Instances", "Messages", "Contacts", "Chats", "Profile", "Groups"]);

/** Routes of an instance, or with its key. */
const ROUTES = Object.entries(contract)
  .filter(([, { tag, access }]) => TAGS.has(tag) && (access === "instance" || access === "key"))
  .map(([name]) => name);

const UNKNOWN_GROUP = "120363999999999999@g.us";
const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;
const lid = expect.stringMatching(/^\d+@lid$/);
const png = { base64: inBase64(SAMPLE.png) };

// Equal titles make a difference between the networks visible.
describe.each<NetworkName>(["sandbox", "whatsapp"])("on the network %s", (network) => {
  let side: NetworkSide;
  let ana: string;
  let bia: string;

  beforeAll(async () => {
    side = await startNetworkSide(network);
    [ana, bia] = await Promise.all([side.addPerson("Ana"), side.addPerson("Bia")]);
  });
  let isWhole = false;
  beforeEach(({ task }) => {
    isWhole = task.suite?.tasks.every(({ mode }) => mode === "run") ?? false;
  });
  afterAll(async () => {
    await side.stop();
    if (isWhole) expect(ROUTES.filter((name) => !side.requestedRoutes.has(name))).toEqual([]);
  });

  const ask = () => ({ id: side.id, client: side.client });
  const received = async (message: Promise<string>) => {
    const { id, client } = ask();
    const messageId = await message;
    await waitUntil(() => client.getMessage({ id, messageId }).catch(() => undefined));
    return messageId;
  };
  const refusal = (pending: Promise<unknown>) =>
    pending.then(
      () => "none",
      (error: { code: string }) => error.code,
    );

  test("contacts are looked up, blocked and listed", async () => {
    const { id, client } = ask();
    const address = { jid: jidOf(ana), lid, phone: ana };
    const checked = await client.checkContacts({ id, numbers: [ana, side.unregisteredPhone, "abc"] });
    expect(checked.data).toMatchObject([
      { query: ana, exists: true, is_in_whatsapp: true, ...address, verified_name: null },
      { query: side.unregisteredPhone, exists: false, jid: null, lid: null, phone: null },
      { query: "abc", exists: false, checked_at: null },
    ]);
    const shown = { ...address, is_business: false, business: null, picture_url: null, is_blocked: false };
    const blocked = { ...address, action: "block", is_blocked: true };
    expect((await client.contactInfo({ id, number: ana })).data).toMatchObject({ ...shown });
    expect((await client.blockContact({ id, number: ana, action: "block" })).data).toEqual(blocked);
    expect((await client.contactInfo({ id, jid: jidOf(ana) })).data.is_blocked).toBe(true);
    expect((await client.blockContact({ id, number: ana, block: false })).data.is_blocked).toBe(false);
    const named = { first_name: "Ana", last_name: "Souza" };
    expect((await client.saveContact({ id, phone: ana, ...named })).data).toEqual({
      ...address,
      name: "Ana Souza",
    });
    expect((await client.subscribePresence({ id, number: ana })).data.jid).toBe(jidOf(ana));
    const { data } = await client.listContacts({ id, synchronise: true });
    expect(data).toContainEqual(expect.objectContaining({ ...address, is_blocked: false }));
  });

  test("the profile is read and changed", async () => {
    const { id, client } = ask();
    expect((await client.setProfileName({ id, name: "Loja" })).data).toEqual({ name: "Loja" });
    await client.setProfileStatus({ id, text: "Aberto" });
    const { data } = await client.setProfilePhoto({ id, ...png });
    expect(data.picture_url).toMatch(/^https?:/);
    const profile = (await client.getProfile({ id })).data;
    expect(profile).toMatchObject({
      jid: jidOf(side.phone),
      lid,
      phone: side.phone,
      name: "Loja",
      about: "Aberto",
      status: "Aberto",
      picture_url: data.picture_url,
      is_business: false,
      business: null,
      privacy: { last: "all", groupadd: "all" },
    });
    const privacy = { last: "contacts", groupadd: "contacts" } as const;
    expect((await client.setPrivacy({ id, ...privacy })).data).toEqual({ privacy });
    expect((await client.getProfile({ id })).data.privacy).toMatchObject(privacy);
    expect(await refusal(client.getBusiness({ id }))).toBe("NOT_FOUND");
    expect(await refusal(client.getCatalog({ id, number: ana }))).toBe("NOT_FOUND");
    expect((await client.setProfilePhoto({ id, base64: null })).data).toEqual({ picture_url: null });
    expect((await client.getInstance({ id })).data).toMatchObject({
      profile_name: "Loja",
      profile_picture_url: null,
    });
  });

  test.each<[string, (send: Client, to: { id: number; number: string }) => Promise<unknown>, object]>([
    ["a text", (send, to) => send.sendText({ ...to, text: "Hi" }), { type: "text", text: "Hi" }],
    [
      "a picture",
      (send, to) => send.sendMedia({ ...to, ...png, caption: "See" }),
      { type: "image", caption: "See", media: expect.objectContaining({ mime_type: "image/png" }) },
    ],
    [
      "a document",
      (send, to) => send.sendMedia({ ...to, file: { bytes: SAMPLE.pdf, file_name: "a.pdf" } }),
      { type: "document", media: expect.objectContaining({ file_name: "a.pdf" }) },
    ],
    [
      "a place",
      (send, to) => send.sendLocation({ ...to, latitude: 1.5, longitude: 2, name: "Here" }),
      { type: "location", location: { latitude: 1.5, longitude: 2, name: "Here", address: null } },
    ],
    [
      "a card",
      (send, to) => send.sendContact({ ...to, contact: { name: "Bia", phone: "5511988887777" } }),
      { type: "contact", contacts: [expect.objectContaining({ name: "Bia", phone: "5511988887777" })] },
    ],
    [
      "anything",
      (send, { id, number }) => send.send({ instance_id: id, number, text: "One" }),
      { type: "text", text: "One" },
    ],
  ])("%s is sent and stored", async (_, send, kept) => {
    const { id, client } = ask();
    const response = (await send(client, { id, number: ana })) as { data: { message_id: string } };
    const { message_id } = response.data;
    expect(response.data).toMatchObject({
      message_id,
      providerMessageId: message_id,
      id: expect.any(Number),
      jid: jidOf(ana),
      status: expect.stringMatching(/^(sent|delivered|read)$/),
      timestamp: expect.any(String),
    });
    const { data } = await client.getMessage({ id, messageId: message_id });
    expect(data).toMatchObject({
      message_id,
      direction: "outbound",
      from_me: true,
      jid: jidOf(ana),
      lid,
      phone: ana,
      error: null,
      chat_type: "contact",
      is_group: false,
      origin: "api",
      track_id: null,
      ...kept,
    });
  });

  test("a message is replied to, reacted to, edited, deleted and read", async () => {
    const { id, client } = ask();
    const theirs = await received(side.receiveText(ana, "Red or blue?"));
    const reply = (await client.sendReply({ id, message_id: theirs, text: "Blue" })).data;
    const message_id = reply.message_id ?? "";
    const quoted = { id: theirs, text: "Red or blue?" };
    expect((await client.getMessage({ id, messageId: message_id })).data.quoted).toMatchObject(quoted);
    const acted = { message_id, jid: jidOf(ana) };
    const reaction = await client.react({ id, message_id: theirs, reaction: "👍" });
    expect(reaction.data).toEqual({ ...acted, message_id: theirs, status: "sent" });
    expect((await client.editMessage({ id, message_id, text: "Red" })).data).toEqual({
      ...acted,
      status: "edited",
    });
    const passed = await client.forwardMessage({ id, message_id: theirs, number: bia });
    expect(passed.data).toMatchObject({
      jid: jidOf(bia),
      status: expect.stringMatching(/^(sent|delivered|read)$/),
    });
    expect((await client.starMessage({ id, message_id: theirs })).data).toMatchObject({ status: "starred" });
    expect((await client.pinMessage({ id, message_id })).data).toEqual({ ...acted, status: "pinned" });
    expect((await client.deleteMessage({ id, message_id })).data).toEqual({ ...acted, status: "deleted" });
    expect((await client.markRead({ id, message_id: theirs })).data).toEqual({
      message_id: theirs,
      jid: jidOf(ana),
      status: "read",
      message_ids: [theirs],
    });
    const typing = await client.setPresence({ id, number: ana, presence: "composing" });
    expect(typing.data).toEqual({ presence: "typing", jid: jidOf(ana) });
    await client.setPresence({ id, presence: "available" });
  });

  test("a poll and a question are answered by votes", async () => {
    const { id, client } = ask();
    const options = ["Red", "Blue"];
    const poll =
      (await client.sendPoll({ id, number: ana, question: "Which?", options })).data.message_id ?? "";
    const choices = options.map((text) => ({ id: text.toLowerCase(), text }));
    const asked = (await client.ask({ id, number: ana, question: "And now?", options: choices })).data;
    expect(asked.ask_id).toMatch(/^ask_\d+$/);
    for (const messageId of [poll, asked.message_id ?? ""]) {
      await side.vote(ana, messageId, "Blue");
      const votes = async () => (await client.listVotes({ id, messageId })).data;
      await waitUntil(async () => (await votes()).voters === 1);
      expect((await votes()).options[1]).toMatchObject({
        text: "Blue",
        count: 1,
        voters: [{ jid: jidOf(ana), lid, phone: ana }],
      });
    }
  });

  test("a scheduled text is listed, moved and cancelled", async () => {
    const { id, client } = ask();
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const sent = await client.sendText({ id, number: ana, text: "Later", send_at: inHours(1) });
    const messageId = sent.pendingMessageId ?? "";
    const moved = inHours(2);
    expect((await client.changeScheduled({ id, messageId, send_at: moved })).data.send_at).toBe(moved);
    expect((await client.listScheduled({ id })).data).toMatchObject([{ text: "Later", send_at: moved }]);
    expect((await client.cancelScheduled({ id, messageId })).data.status).toBe("cancelled");
  });

  test("an inbound file can be downloaded", async () => {
    const { id, client } = ask();
    const message_id = await received(side.receivePicture(ana));
    const { bytes } = await client.downloadMedia({ id, message_id });
    expect(SAMPLE.png.equals(bytes ?? Buffer.alloc(0))).toBe(true);
    const { data } = await client.downloadMedia({ id, message_id, return_base64: true });
    expect(data).toMatchObject({ message_id, mime_type: "image/png", size: SAMPLE.png.length, ...png });
    const { media } = (await client.getMessage({ id, messageId: message_id })).data;
    expect(media).toMatchObject({ status: "ready", type: "image", size: SAMPLE.png.length, reason: null });
    const file = await client.getMedia({ id, mediaId: media?.id ?? "" });
    expect([file.type, SAMPLE.png.equals(file.bytes)]).toEqual(["image/png", true]);
  });

  test("messages and chats are listed, page by page until the last one", async () => {
    const { id, client } = ask();
    const from = await side.addPerson("Caio");
    const ids: string[] = [];
    for (const nth of [1, 2, 3]) ids.unshift(await received(side.receiveText(from, `Olá número ${nth}`)));
    const first = await client.listChatMessages({ id, jid: from, limit: 2 });
    await received(side.receiveText(from, "Olá de novo"));
    const cursor = first.pagination.next_cursor ?? "";
    const rest = await client.listChatMessages({ id, jid: jidOf(from), limit: 2, cursor });
    expect([...first.data, ...rest.data].map((one) => one.message_id)).toEqual(ids);
    expect(rest.pagination).toEqual({ limit: 2, next_cursor: null, has_more: false });
    const found = await client.listMessages({ id, q: "ola numero", direction: "inbound", chat: from });
    expect(found.data.map((one) => one.message_id)).toEqual(ids);
    const lists = [await client.listChats({ id, q: "caio" }), await client.listConversations({ q: "caio" })];
    for (const { data } of lists) {
      expect(data).toMatchObject([
        {
          instance_id: id,
          jid: jidOf(from),
          lid,
          phone: from,
          title: "Caio",
          type: "contact",
          unread_count: 4,
          archived: false,
          pinned: false,
          muted: false,
          last_message: { text: "Olá de novo", sender: { jid: jidOf(from), push_name: "Caio" } },
        },
      ]);
    }
    // The network's times are whole seconds, so a message of the previous test may be listed above it.
    const all = await client.listAccountMessages({ instance_id: id });
    expect(all.data).toContainEqual(expect.objectContaining({ text: "Olá de novo", instance_id: id }));
  });

  test("a chat is archived, pinned, muted and marked, and each change is reverted", async () => {
    const { id, client } = ask();
    await received(side.receiveText(bia, "Hi"));
    const change = async (action: "archive" | "pin" | "mute" | "unread", state: boolean) =>
      (await client.setChatState({ id, number: bia, action, state })).data;
    for (const state of [true, false]) {
      expect(await change("archive", state)).toMatchObject({ jid: jidOf(bia), archived: state });
      expect(await change("pin", state)).toMatchObject({ pinned: state });
      expect(await change("mute", state)).toMatchObject({ muted: state });
      expect(await change("unread", state)).toMatchObject({ marked_unread: state });
    }
  });

  test("a group is created, changed, invited to, left and joined", async () => {
    const { id, client } = ask();
    const people = { name: "Team", participants: [ana, side.unregisteredPhone], description: "Why" };
    const { data: made } = await client.createGroup({ id, ...people });
    const { jid } = made;
    const failed = { status: 404, success: false, error: expect.any(String) };
    expect(made).toMatchObject({
      name: "Team",
      subject: "Team",
      description: "Why",
      owner: jidOf(side.phone),
      size: 2,
      announce: false,
      locked: false,
      created_at: expect.any(String),
      errors: [],
      results: [
        { jid: jidOf(ana), status: 200, success: true, error: null },
        { jid: jidOf(side.unregisteredPhone), ...failed },
      ],
    });
    const act = async (action: "add" | "promote" | "demote" | "remove", ...participants: string[]) =>
      (await client.updateGroupParticipants({ id, jid, action, participants })).data.map(
        ({ status }) => status,
      );
    expect(await act("add", bia, ana, side.unregisteredPhone)).toEqual([200, 409, 404]);
    expect(await act("promote", bia)).toEqual([200]);
    const changes = { name: "Crew", description: "", image: inBase64(SAMPLE.png), announce: true };
    const { data: set } = await client.updateGroupSettings({ id, jid, ...changes, locked: true });
    expect(set).toEqual({ jid, applied: ["name", "description", "image", "announce", "locked"], errors: [] });
    const { data: group } = await client.getGroup({ id, jid });
    expect(group).toMatchObject({ name: "Crew", description: null, announce: true, locked: true, size: 3 });
    expect(group.participants).toContainEqual({ jid: jidOf(bia), lid, phone: bia, admin: "admin" });
    expect((await client.listGroups({ id, refresh: true })).data).toContainEqual(
      expect.objectContaining({ jid, name: "Crew", size: 3 }),
    );
    const { data: greeting } = await client.sendText({ id, jid, text: "Hi all" });
    expect(greeting.jid).toBe(jid);
    const receipts = async () =>
      (await client.getMessageReceipts({ id, messageId: greeting.message_id ?? "" })).data;
    await waitUntil(async () => (await receipts()).delivered > 0);
    expect((await receipts()).receipts).toContainEqual(
      expect.objectContaining({ jid: jidOf(ana), lid, phone: ana, delivered_at: expect.any(String) }),
    );
    const { data: invite } = await client.getGroupInvite({ id, jid });
    expect(invite).toMatchObject({ jid, url: `https://chat.whatsapp.com/${invite.code}` });
    const { data: renewed } = await client.revokeGroupInvite({ id, jid });
    expect(await refusal(client.previewGroup({ id, code: invite.code }))).toBe("NOT_FOUND");
    expect((await client.previewGroup({ id, code: renewed.url })).data).toMatchObject({ jid, name: "Crew" });
    await client.updateGroupSettings({ id, jid, join_approval: true, members_can_add: false });
    expect((await client.listJoinRequests({ id, jid })).data).toEqual([]);
    const answer = { id, jid, action: "approve" as const, participants: [ana] };
    expect((await client.answerJoinRequests(answer)).data).toMatchObject([{ status: 404, success: false }]);
    await client.updateGroupSettings({ id, jid, join_approval: false });
    expect((await client.leaveGroup({ id, jid })).data).toEqual({ jid });
    expect(await refusal(client.getGroup({ id, jid }))).toBe("FORBIDDEN");
    expect(await refusal(client.sendText({ id, jid, text: "Still?" }))).toBe("RECIPIENT_NOT_FOUND");
    expect((await client.joinGroup({ id, code: renewed.url })).data).toEqual({ jid });
    expect((await client.getGroup({ id, jid })).data).toMatchObject({ name: "Crew", size: 3 });
  });

  test("operations for admins only are refused, and the rest of a batch is done", async () => {
    const { id, client } = ask();
    const jid = await side.addGroup("Theirs", ana);
    const participants = [bia];
    expect(await refusal(client.updateGroupParticipants({ id, jid, action: "promote", participants }))).toBe(
      "FORBIDDEN",
    );
    const { data } = await client.updateGroupSettings({ id, jid, name: "Ours", announce: true });
    expect(data).toMatchObject({ applied: ["name"], errors: [{ setting: "announce", code: "FORBIDDEN" }] });
    expect((await client.getGroup({ id, jid })).data).toMatchObject({ name: "Ours", announce: false });
  });

  test.each<[string, string, (to: Client, id: number, nobody: string) => Promise<unknown>]>([
    ["a send to nobody", "RECIPIENT_NOT_FOUND", (to, id, number) => to.sendText({ id, number, text: "Hi" })],
    ["the info of nobody", "RECIPIENT_NOT_FOUND", (to, id, number) => to.contactInfo({ id, number })],
    [
      "blocking nobody",
      "RECIPIENT_NOT_FOUND",
      (to, id, number) => to.blockContact({ id, number, action: "block" }),
    ],
    [
      "a chat that is not there",
      "NOT_FOUND",
      (to, id) => to.setChatState({ id, number: "5511955554444", action: "pin" }),
    ],
    ["an unknown message", "MESSAGE_NOT_FOUND", (to, id) => to.getMessage({ id, messageId: "NONE" })],
    ["an unknown file", "NOT_FOUND", (to, id) => to.getMedia({ id, mediaId: "med_none" })],
    ["an unknown group", "NOT_FOUND", (to, id) => to.getGroup({ id, jid: UNKNOWN_GROUP })],
    [
      "a text to it",
      "RECIPIENT_NOT_FOUND",
      (to, id) => to.sendText({ id, jid: UNKNOWN_GROUP, text: "Hello" }),
    ],
    ["its invitation", "NOT_FOUND", (to, id) => to.getGroupInvite({ id, jid: UNKNOWN_GROUP })],
    ["its settings", "NOT_FOUND", (to, id) => to.updateGroupSettings({ id, jid: UNKNOWN_GROUP, name: "A" })],
    ["leaving it", "NOT_FOUND", (to, id) => to.leaveGroup({ id, jid: UNKNOWN_GROUP })],
    [
      "an invitation of nobody",
      "NOT_FOUND",
      (to, id) => to.joinGroup({ id, code: "NoSuchInvitation123456" }),
    ],
  ])("%s is refused with %s", async (_, code, act) => {
    const { id, client } = ask();
    expect(await refusal(act(client, id, side.unregisteredPhone))).toBe(code);
  });

  test("no passkey is requested while an instance is linked, and no link is created for it", async () => {
    const { id, client } = ask();
    expect((await client.getPasskey({ id })).data.state).toBe("none");
    const part = "AAAA";
    const response = { clientDataJSON: part, authenticatorData: part, signature: part };
    const asked = [
      client.submitPasskeyAssertion({ id, rawId: part, type: "public-key", response }),
      client.confirmPasskey({ id }),
      client.cancelPasskey({ id }),
      client.createLink({ id }),
    ];
    expect(await Promise.all(asked.map(refusal))).toEqual(Array(4).fill("CONFLICT"));
  });

  test("an instance is changed, paired, reconnected, logged out, paired again and removed", async () => {
    const shop = await side.addInstance();
    const { id, client } = shop;
    const { data } = await client.updateInstance({ id, name: "New", settings: { read_messages: true } });
    expect(data).toMatchObject({ name: "New", settings: { read_messages: true, ignore_groups: false } });
    const begun = await client.connectInstance({ id, wait_seconds: 60 });
    expect(begun.data).toMatchObject({ status: "qr_pending", jid: null });
    expect((await client.getInstanceQr({ id })).data?.qr).toMatch(/^data:image\/png;base64,/);
    await side.pair(shop);
    await waitUntil(async () => (await client.getInstanceStatus({ id })).data.profile_name !== null);
    expect((await client.listInstanceLogs({ id })).data.connections[0]).toMatchObject({
      status: "connected",
    });
    expect((await client.reconnectInstance({ id, wait_seconds: 30 })).data).toMatchObject({
      status: "connected",
      connected: true,
      jid: jidOf(side.phone),
      lid,
      phone: side.phone,
      reason: null,
    });
    expect((await client.logoutInstance({ id })).data).toMatchObject({
      status: "disconnected",
      connected: false,
      jid: null,
      lid: null,
      phone: null,
      reason: "logout",
    });
    const asked = [
      client.getProfile({ id }),
      client.listGroups({ id }),
      client.contactInfo({ id, number: bia }),
    ];
    expect(await Promise.all(asked.map(refusal))).toEqual(Array(3).fill("INSTANCE_NOT_CONNECTED"));
    await side.pair(shop);
    expect((await client.getInstance({ id })).data).toMatchObject({ phone: side.phone, status: "connected" });
    expect((await client.getApiKey({ id })).data).toMatchObject({ id, scope: "instance" });
    expect((await client.getProxy({ id })).data).toEqual({ id, url: null });
    expect(await refusal(client.testProxy({ id }))).toBe("VALIDATION_ERROR");
    const { data: renewed } = await client.regenerateApiKey({ id, grace_seconds: 3_600 });
    expect(renewed.api_key).toMatch(/^wg_/);
    expect((await client.deleteInstance({ id })).data).toEqual({ id });
    expect(await refusal(client.getInstance({ id }))).toBe("INVALID_API_KEY");
  });
});
