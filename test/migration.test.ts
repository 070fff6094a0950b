import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { readInput } from "../src/platform/http/input/read-input.ts";
import type { Route } from "../src/platform/http/route.ts";
import { ROOT } from "./source-files.ts";

type Body = Record<string, unknown>;
type Name = keyof typeof contract;

const JID = "5511999990001@s.whatsapp.net";
const CHAT = "5511999990001@c.us";
const GROUP = "120363000000000001@g.us";
const WAHA_ID = `true_${CHAT}_3EB0AA`;

/** Bodies of clients of other gateways, the route that accepts them unchanged, and the parsed input. */
const UNCHANGED: readonly (readonly [peer: string, route: Name, body: Body, read: Body])[] = [
  [
    "Evolution sendText",
    "sendText",
    {
      number: "5511999990001",
      text: "Hi",
      delay: 1200,
      linkPreview: true,
      mentioned: [JID],
      quoted: { key: { id: "3EB0AA" } },
    },
    { text: "Hi", delay: 1200, link_preview: true, mentions: [JID], reply_to: "3EB0AA" },
  ],
  [
    "Evolution sendMedia",
    "sendMedia",
    { number: "5511999990001", mediatype: "ptv", mimetype: "video/mp4", media: "AAAA", fileName: "a.mp4" },
    { type: "ptv", mime_type: "video/mp4", base64: "AAAA", file_name: "a.mp4" },
  ],
  [
    "Evolution sendLocation",
    "sendLocation",
    { number: JID, latitude: 1, longitude: 2, name: "A", address: "B" },
    { latitude: 1, longitude: 2, name: "A", address: "B" },
  ],
  [
    "Evolution sendReaction",
    "react",
    { key: { id: "3A01", remoteJid: JID, fromMe: false }, reaction: "👍" },
    { message_id: "3A01", number: JID, reaction: "👍" },
  ],
  [
    "Evolution updateMessage",
    "editMessage",
    { number: JID, key: { id: "3EB0AA" }, text: "New" },
    { message_id: "3EB0AA", text: "New" },
  ],
  [
    "Evolution deleteMessageForEveryone",
    "deleteMessage",
    { id: "3EB0AA", remoteJid: JID, fromMe: true },
    { message_id: "3EB0AA", number: JID },
  ],
  [
    "Evolution sendPresence",
    "setPresence",
    { number: JID, presence: "composing", delay: 500 },
    { presence: "composing", duration_ms: 500 },
  ],
  ["Evolution setPresence", "setPresence", { presence: "available" }, { presence: "available" }],
  [
    "Evolution whatsappNumbers",
    "checkContacts",
    { numbers: ["5511999990001"] },
    { numbers: ["5511999990001"] },
  ],
  ["Evolution updateBlockStatus", "blockContact", { number: JID, status: "block" }, { action: "block" }],
  ["Evolution archiveChat", "setChatState", { chat: JID, archive: true }, { number: JID, archive: true }],
  [
    "Evolution archiveChat by its last message",
    "setChatState",
    {
      lastMessage: { key: { remoteJid: JID, fromMe: false, id: "3A01" }, messageTimestamp: 1 },
      archive: true,
    },
    { number: JID, archive: true },
  ],
  [
    "Evolution getBase64FromMediaMessage",
    "downloadMedia",
    { message: { key: { id: "3A01" } }, convertToMp4: false },
    { message_id: "3A01" },
  ],
  ["Evolution fetchProfile", "contactInfo", { number: JID }, { number: JID }],
  ["Evolution updateProfileName", "setProfileName", { name: "Shop" }, { name: "Shop" }],
  ["Evolution updateProfileStatus", "setProfileStatus", { status: "Open" }, { text: "Open" }],
  ["Evolution updateProfilePicture", "setProfilePhoto", { picture: "AAAA" }, { base64: "AAAA" }],
  [
    "Evolution group/create",
    "createGroup",
    { subject: "Team", description: "D", participants: ["5511999990001"] },
    { name: "Team", description: "D" },
  ],
  [
    "Evolution updateParticipant",
    "updateGroupParticipants",
    { groupJid: GROUP, action: "add", participants: ["5511999990001"] },
    { jid: GROUP, action: "add" },
  ],
  [
    "Evolution updateGroupSubject",
    "updateGroupSettings",
    { groupJid: GROUP, subject: "Team" },
    { jid: GROUP, name: "Team" },
  ],
  [
    "Evolution settings/set",
    "updateInstance",
    { rejectCall: true, msgCall: "No calls", groupsIgnore: true, alwaysOnline: false, readMessages: true },
    { reject_calls: true, reject_message: "No calls", ignore_groups: true },
  ],
  [
    "Evolution instance/create",
    "createInstance",
    { instanceName: "Sales", rejectCall: true },
    { name: "Sales", reject_calls: true },
  ],
  [
    "Evolution webhook/set without events",
    "updateDefaultWebhook",
    { webhook: { enabled: true, url: "https://example.com/" } },
    { url: "https://example.com/", is_active: true },
  ],
  [
    "uazapi send/text",
    "sendText",
    {
      number: "5511999990001",
      text: "Hi",
      replyid: "5511988880000:3EB0AA",
      mentions: "5511999990001, 5511999990002",
      track_id: "t",
    },
    { text: "Hi", reply_to: "3EB0AA", mentions: ["5511999990001", "5511999990002"], track_id: "t" },
  ],
  [
    "uazapi send/media",
    "sendMedia",
    {
      number: "5511999990001",
      type: "myaudio",
      file: "https://example.com/a.ogg",
      text: "Cap",
      docName: "a.ogg",
    },
    { type: "ptt", file: "https://example.com/a.ogg", caption: "Cap", file_name: "a.ogg" },
  ],
  [
    "uazapi send/contact",
    "sendContact",
    { number: "5511999990001", fullName: "Bia", phoneNumber: "5511999990002" },
    { number: "5511999990001", name: "Bia", phone: "5511999990002" },
  ],
  [
    "uazapi send/location",
    "sendLocation",
    { number: "5511999990001", latitude: 1, longitude: 2 },
    { latitude: 1, longitude: 2 },
  ],
  [
    "uazapi message/react",
    "react",
    { number: JID, text: "👍", id: "3A01" },
    { reaction: "👍", message_id: "3A01" },
  ],
  [
    "uazapi message/markread",
    "markRead",
    { id: ["5511988880000:3A01", "3A02"] },
    { message_id: ["3A01", "3A02"] },
  ],
  [
    "uazapi message/edit",
    "editMessage",
    { id: "5511988880000:3EB0AA", text: "New" },
    { message_id: "3EB0AA", text: "New" },
  ],
  ["uazapi message/delete", "deleteMessage", { id: "3EB0AA" }, { message_id: "3EB0AA" }],
  [
    "uazapi message/download",
    "downloadMedia",
    { id: "3A01", return_base64: true },
    { message_id: "3A01", return_base64: true },
  ],
  [
    "uazapi message/presence",
    "setPresence",
    { number: JID, presence: "recording", delay: 500 },
    { presence: "recording", duration_ms: 500 },
  ],
  ["uazapi chat/check", "checkContacts", { numbers: ["5511999990001"] }, { numbers: ["5511999990001"] }],
  ["uazapi chat/block", "blockContact", { number: JID, block: false }, { block: false }],
  ["uazapi chat/pin", "setChatState", { number: JID, pin: true }, { pin: true }],
  ["uazapi chat/details", "contactInfo", { number: JID, preview: true }, { number: JID }],
  ["uazapi profile/name", "setProfileName", { name: "Shop" }, { name: "Shop" }],
  [
    "uazapi profile/image",
    "setProfilePhoto",
    { image: "https://example.com/a.jpg" },
    { base64: "https://example.com/a.jpg" },
  ],
  ["uazapi group/create", "createGroup", { name: "Team", participants: ["5511999990001"] }, { name: "Team" }],
  [
    "uazapi group/updateAnnounce",
    "updateGroupSettings",
    { groupjid: GROUP, announce: true },
    { jid: GROUP, announce: true },
  ],
  [
    "uazapi group/join",
    "joinGroup",
    { invitecode: "https://chat.whatsapp.com/AbCdEfGhIjKl" },
    { code: "AbCdEfGhIjKl" },
  ],
  ["uazapi group/leave", "leaveGroup", { groupjid: GROUP }, { jid: GROUP }],
  ["uazapi instance/create", "createInstanceWithKey", { name: "Sales" }, { name: "Sales" }],
  ["uazapi instance/connect", "connectInstance", { phone: "5511999990001" }, { phone: "5511999990001" }],
  [
    "uazapi webhook without events",
    "updateDefaultWebhook",
    { url: "https://example.com/", enabled: true },
    { url: "https://example.com/", is_active: true },
  ],
  [
    "uazapi excludeMessages",
    "createWebhook",
    { url: "https://example.com/", excludeMessages: ["wasSentByApi", "isGroupYes"] },
    { exclude: ["sent_by_api", "groups"] },
  ],
  [
    "WAHA sendText",
    "sendText",
    { session: "s", chatId: CHAT, text: "Hi", reply_to: WAHA_ID, linkPreview: false },
    { number: CHAT, text: "Hi", reply_to: "3EB0AA" },
  ],
  [
    "WAHA sendImage",
    "sendMedia",
    {
      session: "s",
      chatId: CHAT,
      caption: "C",
      file: { data: "AAAA", mimetype: "image/png", filename: "a.png" },
    },
    {
      number: CHAT,
      base64: "AAAA",
      mime_type: "image/png",
      file_name: "a.png",
      caption: "C",
      file: undefined,
    },
  ],
  [
    "WAHA sendFile by URL",
    "sendMedia",
    { chatId: CHAT, file: { url: "https://example.com/a.pdf" } },
    { url: "https://example.com/a.pdf" },
  ],
  [
    "WAHA reaction",
    "react",
    { session: "s", messageId: WAHA_ID, reaction: "👍" },
    { message_id: "3EB0AA", reaction: "👍" },
  ],
  [
    "WAHA reaction in a group",
    "react",
    { messageId: `false_${GROUP}_3A04_${CHAT}`, reaction: "" },
    { message_id: "3A04", reaction: "" },
  ],
  [
    "WAHA sendSeen",
    "markRead",
    { session: "s", chatId: CHAT, messageIds: [WAHA_ID] },
    { message_ids: ["3EB0AA"] },
  ],
  [
    "WAHA sendLocation",
    "sendLocation",
    { session: "default", chatId: CHAT, latitude: 1, longitude: 2, title: "Office" },
    { latitude: 1, longitude: 2, name: "Office" },
  ],
  ["WAHA contacts/about", "contactInfo", { contactId: CHAT, session: "default" }, { number: CHAT }],
  ["WAHA presence", "setPresence", { presence: "offline" }, { presence: "unavailable" }],
  [
    "WAHA presence in a chat",
    "setPresence",
    { chatId: CHAT, presence: "typing" },
    { number: CHAT, presence: "typing" },
  ],
  [
    "WAHA contacts/block",
    "blockContact",
    { contactId: CHAT, session: "s", action: "block" },
    { number: CHAT },
  ],
  ["WAHA profile/name", "setProfileName", { name: "Shop" }, { name: "Shop" }],
  ["WAHA profile/status", "setProfileStatus", { status: "Open" }, { text: "Open" }],
];

describe("a body of another gateway is converted to the same meaning", () => {
  test.each(UNCHANGED)("%s", (_, name, body, read) => {
    const route: Route = contract[name];
    const path = route.http.includes(":id") ? { id: "17" } : {};
    expect(readInput(route, { path, query: {}, body })).toMatchObject(read);
  });
});

test("an id of this gateway is not mistaken for an id of another gateway", () => {
  for (const id of ["3EB0AA", "AC1_2", "true", "12:3", "ABC:DEF", "true_x"]) {
    const read = readInput(contract.deleteMessage, {
      path: { id: "17" },
      query: {},
      body: { message_id: id },
    });
    expect(read.message_id).toBe(id);
  }
});

test("an unknown value of another gateway is refused, not guessed", () => {
  const refused: readonly (readonly [Name, Body])[] = [
    ["sendMedia", { number: JID, type: "gif", media: "AAAA" }],
    ["createWebhook", { url: "https://example.com/", events: ["MESSAGES_UPSERT"] }],
    ["createWebhook", { url: "https://example.com/", excludeMessages: ["wasNotSentByApi"] }],
    ["sendMedia", { number: JID, file: 7 }],
    ["setPresence", { presence: "away" }],
  ];
  for (const [name, body] of refused) {
    expect(() => readInput(contract[name] as Route, { path: { id: "17" }, query: {}, body })).toThrow();
  }
});

test("the migration page names every route that accepts bodies of other gateways", () => {
  const text = readFileSync(`${ROOT}docs/start/migration.md`, "utf8");
  const missing = [...new Set(UNCHANGED.map(([, name]) => contract[name].http))].filter((http) => {
    const path = http.split(" ")[1]?.replace("/api/v1/instances/:id", "") ?? "";
    return path !== "" && !text.includes(`\`${path}\``) && !text.includes(` ${path}\``);
  });
  expect(missing).toEqual([]);
});
