import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { GatewayError } from "../src/platform/gateway-error.ts";
import { readInput } from "../src/platform/http/input/read-input.ts";
import type { Route } from "../src/platform/http/route.ts";
import { ROOT } from "./source-files.ts";

type Body = Record<string, unknown>;
type Name = keyof typeof contract;

const NUMBER = "5511999990001";
const JID = `${NUMBER}@s.whatsapp.net`;
const CHAT = `${NUMBER}@c.us`;
const GROUP = "120363000000000001@g.us";
const WAHA_ID = `true_${CHAT}_3EB0AA`;
const KEY = { id: "3EB0AA", remoteJid: JID, fromMe: true };
const URL = "https://example.com/a.pdf";
const VCARD = `BEGIN:VCARD\nVERSION:3.0\nFN:Bia\nTEL;waid=${NUMBER}:+${NUMBER}\nEND:VCARD`;

const OF_EVOLUTION = {
  number: NUMBER,
  delay: 1200,
  quoted: { key: { id: "3EB0AA" }, message: { conversation: "Hi" } },
  mentionsEveryOne: true,
  mentioned: [NUMBER],
  encoding: true,
};
const IGNORED_OF_EVOLUTION = ["quoted.message.conversation", "encoding"];
const OF_EVOLUTION_1 = {
  delay: 1200,
  presence: "composing",
  linkPreview: true,
  quoted: { key: { id: "3EB0AA" } },
  mentions: { everyOne: true, mentioned: [NUMBER] },
};
const OF_UAZAPI = {
  number: NUMBER,
  replyid: "5511988880000:3EB0AA",
  mentions: `${NUMBER}, 5511999990002`,
  readchat: true,
  readmessages: true,
  delay: 1000,
  forward: true,
  track_source: "crm",
  track_id: "t",
  async: true,
};
const REFUSED_OF_UAZAPI = ["readchat", "readmessages"];
const OF_WAHA = { session: "default", chatId: CHAT, reply_to: WAHA_ID };
const CONTEXT = { StanzaId: "3EB0AA", Participant: JID, MentionedJID: [JID], IsForwarded: true };
const OF_WUZAPI = { Phone: NUMBER, Id: "ABCD", ContextInfo: CONTEXT };
const REFUSED_OF_WUZAPI = ["Id"];
const FILE_OF_WAHA = { url: URL, mimetype: "application/pdf", filename: "a.pdf" };

/**
 * Bodies of other gateways' clients, from those gateways' schemas. Each field is refused, ignored, or read, which
 * means that the request has another meaning without it. Accepted bodies have this meaning.
 */
const BODIES: readonly [
  request: string,
  route: Name,
  body: Body,
  refused: readonly string[],
  ignored: readonly string[],
  meaning?: Body,
][] = [
  [
    "Evolution sendText",
    "sendText",
    { ...OF_EVOLUTION, text: "Hi", linkPreview: true, everyOne: true, messageId: "A", webhookUrl: URL },
    ["mentionsEveryOne", "everyOne", "messageId"],
    [...IGNORED_OF_EVOLUTION, "webhookUrl"],
    { text: "Hi", delay: 1200, link_preview: true, mentions: [NUMBER], reply_to: "3EB0AA" },
  ],
  [
    "Evolution sendText 1",
    "sendText",
    { number: NUMBER, options: OF_EVOLUTION_1, textMessage: { text: "Hi" } },
    ["options.mentions.everyOne"],
    ["options.presence"],
  ],
  [
    "Evolution sendMedia",
    "sendMedia",
    {
      ...OF_EVOLUTION,
      mediatype: "video",
      mimetype: "video/mp4",
      caption: "C",
      fileName: "a.mp4",
      media: "AAAA",
      gifPlayback: true,
      gifAttribution: 1,
      viewOnce: true,
    },
    ["mentionsEveryOne"],
    [...IGNORED_OF_EVOLUTION, "gifAttribution"],
    { type: "video", mime_type: "video/mp4", base64: "AAAA", file_name: "a.mp4", view_once: true },
  ],
  [
    "Evolution sendMedia 1",
    "sendMedia",
    {
      number: NUMBER,
      options: OF_EVOLUTION_1,
      mediaMessage: { mediatype: "image", caption: "C", fileName: "a.png", media: "AAAA" },
    },
    ["options.mentions.everyOne"],
    ["options.presence", "options.linkPreview"],
  ],
  [
    "Evolution sendWhatsAppAudio",
    "sendMedia",
    { ...OF_EVOLUTION, audio: "AAAA" },
    ["mentionsEveryOne"],
    IGNORED_OF_EVOLUTION,
  ],
  [
    "Evolution sendSticker",
    "sendMedia",
    { ...OF_EVOLUTION, sticker: "AAAA", notConvertSticker: false },
    ["mentionsEveryOne"],
    [...IGNORED_OF_EVOLUTION, "notConvertSticker"],
  ],
  [
    "Evolution sendLocation",
    "sendLocation",
    { ...OF_EVOLUTION, name: "A", address: "B", latitude: 1, longitude: 2 },
    ["mentionsEveryOne"],
    IGNORED_OF_EVOLUTION,
    { latitude: 1, longitude: 2, name: "A", address: "B" },
  ],
  [
    "Evolution sendContact",
    "sendContact",
    {
      ...OF_EVOLUTION,
      contact: [
        { fullName: "Bia", wuid: NUMBER, phoneNumber: NUMBER, organization: "O", email: "b@x.org", url: URL },
      ],
    },
    ["mentionsEveryOne"],
    [...IGNORED_OF_EVOLUTION, "contact.0.wuid"],
  ],
  [
    "Evolution sendContact with two cards",
    "sendContact",
    {
      number: NUMBER,
      contact: [
        { fullName: "Bia", phoneNumber: NUMBER },
        { fullName: "Ana", phoneNumber: NUMBER },
      ],
    },
    [],
    [],
  ],
  [
    "Evolution sendButtons",
    "sendText",
    { number: NUMBER, text: "T", title: "A", description: "D", footer: "F", buttons: [{ type: "reply" }] },
    ["buttons", "footer", "title", "description"],
    [],
  ],
  [
    "Evolution sendList",
    "sendText",
    { number: NUMBER, text: "T", footerText: "F", buttonText: "B", sections: [{ title: "S", rows: [{}] }] },
    ["buttonText", "sections", "footerText"],
    [],
  ],
  [
    "Evolution sendPoll",
    "sendText",
    { number: NUMBER, text: "T", selectableCount: 1, values: ["a", "b"] },
    ["selectableCount", "values"],
    [],
  ],
  [
    "Evolution sendStatus",
    "sendText",
    {
      number: NUMBER,
      text: "T",
      statusJidList: [NUMBER],
      allContacts: true,
      backgroundColor: "#fff",
      font: 1,
    },
    ["statusJidList", "allContacts", "backgroundColor", "font"],
    [],
  ],
  [
    "Evolution sendReaction",
    "react",
    { key: KEY, reaction: "👍" },
    [],
    ["key.fromMe"],
    { message_id: "3EB0AA", number: JID, reaction: "👍" },
  ],
  [
    "Evolution updateMessage",
    "editMessage",
    { number: NUMBER, key: KEY, text: "New" },
    [],
    ["key.remoteJid", "key.fromMe"],
    { message_id: "3EB0AA", text: "New" },
  ],
  [
    "Evolution deleteMessageForEveryone",
    "deleteMessage",
    { ...KEY, participant: JID, for_everyone: false },
    [],
    ["fromMe", "participant"],
    { message_id: "3EB0AA", number: JID, for_everyone: false },
  ],
  ["Evolution markMessageAsRead", "markRead", { readMessages: [KEY] }, [], ["readMessages.0.fromMe"]],
  [
    "Evolution sendPresence 1",
    "setPresence",
    { number: JID, options: { presence: "composing", delay: 500 } },
    [],
    [],
  ],
  [
    "WAHA sendText",
    "sendText",
    { ...OF_WAHA, text: "Hi", mentions: ["all"], linkPreview: true, linkPreviewHighQuality: true },
    ["mentions"],
    ["session", "linkPreviewHighQuality"],
    { number: CHAT, text: "Hi", reply_to: "3EB0AA" },
  ],
  [
    "WAHA send/link-custom-preview",
    "sendText",
    { ...OF_WAHA, text: URL, preview: { url: URL, title: "T", description: "D", image: { url: URL } } },
    ["preview"],
    ["session"],
  ],
  [
    "WAHA sendFile",
    "sendMedia",
    { ...OF_WAHA, caption: "C", file: FILE_OF_WAHA },
    [],
    ["session"],
    { url: URL },
  ],
  [
    "WAHA sendVideo",
    "sendMedia",
    { ...OF_WAHA, caption: "C", file: FILE_OF_WAHA, asNote: true, convert: true },
    [],
    ["session", "convert"],
  ],
  [
    "WAHA sendLocation",
    "sendLocation",
    { ...OF_WAHA, latitude: 1, longitude: 2, title: "Office" },
    [],
    ["session"],
    { latitude: 1, longitude: 2, name: "Office" },
  ],
  [
    "WAHA sendContactVcard",
    "sendContact",
    {
      ...OF_WAHA,
      contacts: [
        { fullName: "Bia", organization: "O", phoneNumber: NUMBER, whatsappId: NUMBER, vcard: null },
      ],
    },
    [],
    ["session", "contacts.0.whatsappId", "contacts.0.vcard"],
  ],
  [
    "WAHA sendContactVcard as a text",
    "sendContact",
    { ...OF_WAHA, contacts: [{ vcard: VCARD }] },
    [],
    ["session"],
  ],
  [
    "WAHA sendButtons",
    "sendText",
    {
      ...OF_WAHA,
      header: "H",
      headerImage: FILE_OF_WAHA,
      body: "B",
      footer: "F",
      buttons: [{ type: "reply", text: "Y" }],
    },
    ["buttons", "footer", "header", "headerImage"],
    ["session"],
  ],
  [
    "WAHA sendPoll",
    "sendText",
    { ...OF_WAHA, text: "T", poll: { name: "Q", options: ["a", "b"], multipleAnswers: false } },
    ["poll"],
    ["session"],
  ],
  [
    "WAHA reaction",
    "react",
    { session: "s", messageId: WAHA_ID, reaction: "👍" },
    [],
    ["session"],
    { message_id: "3EB0AA", reaction: "👍" },
  ],
  [
    "WAHA sendSeen",
    "markRead",
    { session: "s", chatId: CHAT, messageIds: [WAHA_ID], participant: CHAT },
    [],
    ["session", "participant"],
    { message_ids: ["3EB0AA"] },
  ],
  [
    "WAHA edit",
    "editMessage",
    { message_id: WAHA_ID, text: "New", mentions: [CHAT], linkPreview: true, linkPreviewHighQuality: true },
    ["mentions"],
    ["linkPreview", "linkPreviewHighQuality"],
  ],
  [
    "uazapi send/text",
    "sendText",
    {
      ...OF_UAZAPI,
      text: "Hi",
      linkPreview: true,
      linkPreviewTitle: "T",
      linkPreviewDescription: "D",
      linkPreviewImage: URL,
      linkPreviewLarge: true,
    },
    [...REFUSED_OF_UAZAPI, "linkPreviewTitle", "linkPreviewDescription", "linkPreviewImage"],
    ["track_source", "linkPreviewLarge"],
    { text: "Hi", reply_to: "3EB0AA", mentions: [NUMBER, "5511999990002"], track_id: "t" },
  ],
  [
    "uazapi send/media",
    "sendMedia",
    {
      ...OF_UAZAPI,
      type: "myaudio",
      file: URL,
      text: "C",
      docName: "a.pdf",
      mimetype: "application/pdf",
      thumbnail: URL,
    },
    REFUSED_OF_UAZAPI,
    ["track_source", "thumbnail"],
    { type: "ptt", file: URL, caption: "C", file_name: "a.pdf" },
  ],
  [
    "uazapi send/contact",
    "sendContact",
    { ...OF_UAZAPI, fullName: "Bia", phoneNumber: NUMBER, organization: "O", email: "b@x.org", url: URL },
    REFUSED_OF_UAZAPI,
    ["track_source"],
    { number: NUMBER, name: "Bia", phone: NUMBER },
  ],
  [
    "uazapi send/location",
    "sendLocation",
    { ...OF_UAZAPI, name: "A", address: "B", latitude: 1, longitude: 2 },
    REFUSED_OF_UAZAPI,
    ["track_source"],
    { latitude: 1, longitude: 2 },
  ],
  [
    "uazapi send/menu",
    "sendText",
    {
      number: NUMBER,
      text: "T",
      footerText: "F",
      listButton: "L",
      selectableCount: 1,
      choices: ["a"],
      imageButton: URL,
    },
    ["imageButton", "listButton", "choices", "selectableCount", "footerText"],
    [],
  ],
  [
    "uazapi send/carousel",
    "sendText",
    { number: NUMBER, text: "T", carousel: [{ text: "a", image: URL, buttons: [] }] },
    ["carousel"],
    [],
  ],
  [
    "uazapi sender/simple",
    "send",
    { number: NUMBER, text: "T", scheduled_for: 1, delayMin: 1, delayMax: 2, info: "x" },
    ["scheduled_for"],
    ["delayMin", "delayMax", "info"],
  ],
  [
    "uazapi message/react",
    "react",
    { number: JID, text: "👍", id: "3A01" },
    [],
    [],
    { reaction: "👍", message_id: "3A01" },
  ],
  [
    "uazapi message/edit",
    "editMessage",
    { id: "5511988880000:3EB0AA", text: "New" },
    [],
    [],
    { message_id: "3EB0AA", text: "New" },
  ],
  ["uazapi chat/mute", "setChatState", { number: JID, action: "mute", muteEndTime: 8 }, ["muteEndTime"], []],
  [
    "wuzapi chat/send/text",
    "sendText",
    { ...OF_WUZAPI, Body: "Hi", LinkPreview: true },
    REFUSED_OF_WUZAPI,
    ["ContextInfo.Participant"],
  ],
  [
    "wuzapi chat/send/image",
    "sendMedia",
    { ...OF_WUZAPI, Image: "data:image/png;base64,AAAA", Caption: "C" },
    REFUSED_OF_WUZAPI,
    ["ContextInfo.Participant"],
  ],
  [
    "wuzapi chat/send/document",
    "sendMedia",
    { ...OF_WUZAPI, Document: "AAAA", FileName: "a.pdf", MimeType: "application/pdf", ViewOnce: true },
    REFUSED_OF_WUZAPI,
    ["ContextInfo.Participant"],
  ],
  [
    "wuzapi chat/send/sticker",
    "sendMedia",
    { Phone: NUMBER, Sticker: "AAAA", PngThumbnail: "AAAA", PackId: "p", PackName: "P", Emojis: ["👍"] },
    [],
    ["PngThumbnail", "PackId"],
    { type: "sticker", pack_name: "P", emojis: ["👍"] },
  ],
  [
    "wuzapi chat/send/location",
    "sendLocation",
    { ...OF_WUZAPI, Latitude: 1, Longitude: 2, Name: "A", live: true },
    ["Id", "live"],
    ["ContextInfo.Participant"],
  ],
  [
    "wuzapi chat/send/contact",
    "sendContact",
    { ...OF_WUZAPI, Name: "Bia", Vcard: VCARD },
    REFUSED_OF_WUZAPI,
    ["ContextInfo.Participant"],
  ],
  [
    "wuzapi chat/send/template",
    "sendText",
    { Phone: NUMBER, Body: "T", Footer: "F", Buttons: [{ DisplayText: "Yes", Type: "quickreply" }] },
    ["Buttons", "Footer"],
    [],
  ],
  ["wuzapi chat/react", "react", { Phone: NUMBER, Body: "👍", Id: "me:3EB0AA" }, [], []],
  [
    "wuzapi chat/markread",
    "markRead",
    { Id: ["3A01"], ChatPhone: NUMBER, SenderPhone: NUMBER },
    [],
    ["SenderPhone"],
  ],
  [
    "wuzapi chat/presence",
    "setPresence",
    { Phone: NUMBER, State: "composing", Media: "audio" },
    ["Media"],
    [],
  ],
  [
    "Evolution webhook/set",
    "updateDefaultWebhook",
    {
      webhook: {
        enabled: true,
        url: URL,
        headers: { a: "b" },
        byEvents: true,
        base64: true,
        events: ["message.sent"],
      },
    },
    ["webhook.byEvents", "webhook.base64", "webhook.headers"],
    [],
  ],
  [
    "uazapi webhook",
    "createWebhook",
    {
      url: URL,
      enabled: false,
      excludeMessages: ["isGroupYes"],
      addUrlEvents: true,
      addUrlTypesMessages: true,
    },
    ["addUrlEvents", "addUrlTypesMessages"],
    [],
  ],
  [
    "Evolution instance/create",
    "createInstance",
    {
      instanceName: "Sales",
      token: "t",
      integration: "WHATSAPP-BAILEYS",
      qrcode: true,
      rejectCall: true,
      msgCall: "No calls",
      groupsIgnore: true,
      alwaysOnline: true,
      readMessages: true,
      readStatus: true,
      syncFullHistory: true,
      proxyHost: "proxy.example",
      proxyPort: "80",
      webhook: { enabled: false, url: URL, byEvents: true, base64: true, headers: { a: "b" } },
    },
    [
      "readStatus",
      "syncFullHistory",
      "proxyHost",
      "proxyPort",
      "webhook.enabled",
      "webhook.byEvents",
      "webhook.base64",
      "webhook.headers",
    ],
    ["token", "integration", "qrcode"],
    { name: "Sales", reject_calls: true },
  ],
  [
    "WAHA sessions",
    "createInstance",
    { name: "Sales", start: true, config: { proxy: { server: "p:1" }, webhooks: [{ url: URL }] } },
    ["config.proxy", "config.webhooks"],
    ["start"],
  ],
  [
    "Evolution settings/set",
    "updateInstance",
    {
      rejectCall: true,
      msgCall: "No",
      groupsIgnore: true,
      alwaysOnline: true,
      readMessages: true,
      readStatus: true,
      syncFullHistory: true,
    },
    ["readStatus", "syncFullHistory"],
    [],
    { reject_calls: true, reject_message: "No", ignore_groups: true },
  ],
  [
    "Evolution proxy/set",
    "updateInstance",
    { enabled: true, host: "p.example", port: "80", protocol: "http", username: "u", password: "p" },
    ["host", "port"],
    ["enabled", "protocol", "username", "password"],
  ],
  [
    "Evolution group/create",
    "createGroup",
    { subject: "Team", description: "D", participants: [NUMBER], promoteParticipants: true },
    ["promoteParticipants"],
    [],
    { name: "Team", description: "D" },
  ],
  [
    "Evolution getBase64FromMediaMessage",
    "downloadMedia",
    { message: { key: KEY }, convertToMp4: true },
    ["convertToMp4"],
    ["message.key.remoteJid", "message.key.fromMe"],
    { message_id: "3EB0AA" },
  ],
  [
    "uazapi message/download",
    "downloadMedia",
    {
      id: "3A01",
      return_base64: true,
      generate_mp3: true,
      return_link: true,
      transcribe: true,
      openai_apikey: "k",
      download_quoted: true,
    },
    ["generate_mp3", "return_link", "transcribe", "download_quoted"],
    ["openai_apikey"],
    { message_id: "3A01", return_base64: true },
  ],
  [
    "a disappearing message to a group",
    "send",
    { number: GROUP, text: "T", expiration: 86_400, ephemeral: true },
    ["ephemeral", "expiration"],
    [],
  ],
];

/** Other bodies of these clients, the route that accepts them unchanged, and the parsed input. */
const UNCHANGED: readonly (readonly [peer: string, route: Name, body: Body, read: Body])[] = [
  [
    "Evolution sendPresence",
    "setPresence",
    { number: JID, presence: "composing", delay: 500 },
    { presence: "composing", duration_ms: 500 },
  ],
  ["Evolution setPresence", "setPresence", { presence: "available" }, { presence: "available" }],
  ["Evolution whatsappNumbers", "checkContacts", { numbers: [NUMBER] }, { numbers: [NUMBER] }],
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
  ["Evolution fetchProfile", "contactInfo", { number: JID }, { number: JID }],
  ["Evolution updateProfileName", "setProfileName", { name: "Shop" }, { name: "Shop" }],
  ["Evolution updateProfileStatus", "setProfileStatus", { status: "Open" }, { text: "Open" }],
  ["Evolution updateProfilePicture", "setProfilePhoto", { picture: "AAAA" }, { base64: "AAAA" }],
  [
    "Evolution updateParticipant",
    "updateGroupParticipants",
    { groupJid: GROUP, action: "add", participants: [NUMBER] },
    { jid: GROUP, action: "add" },
  ],
  [
    "Evolution updateGroupSubject",
    "updateGroupSettings",
    { groupJid: GROUP, subject: "Team" },
    { jid: GROUP, name: "Team" },
  ],
  [
    "Evolution webhook/set without events",
    "updateDefaultWebhook",
    { webhook: { enabled: true, url: "https://example.com/" } },
    { url: "https://example.com/", is_active: true },
  ],
  [
    "uazapi message/markread",
    "markRead",
    { id: ["5511988880000:3A01", "3A02"] },
    { message_id: ["3A01", "3A02"] },
  ],
  ["uazapi message/delete", "deleteMessage", { id: "3EB0AA" }, { message_id: "3EB0AA" }],
  [
    "uazapi message/presence",
    "setPresence",
    { number: JID, presence: "recording", delay: 500 },
    { presence: "recording", duration_ms: 500 },
  ],
  ["uazapi chat/check", "checkContacts", { numbers: [NUMBER] }, { numbers: [NUMBER] }],
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
  ["uazapi group/create", "createGroup", { name: "Team", participants: [NUMBER] }, { name: "Team" }],
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
  ["uazapi instance/connect", "connectInstance", { phone: NUMBER }, { phone: NUMBER }],
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
    "WAHA reaction in a group",
    "react",
    { messageId: `false_${GROUP}_3A04_${CHAT}`, reaction: "" },
    { message_id: "3A04", reaction: "" },
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

function read(name: Name, body: unknown): unknown {
  const route: Route = contract[name];
  return readInput(route, { path: route.http.includes(":id") ? { id: "17" } : {}, query: {}, body });
}

function refusedFields(name: Name, body: unknown): string[] {
  try {
    read(name, body);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return (error.details?.fields ?? []).map(({ field }) => field);
  }
}

/** Paths of all values. A list of texts is one value. */
function pathsOf(value: unknown, path: string[] = []): string[] {
  if (typeof value !== "object" || value === null) return [path.join(".")];
  if (Array.isArray(value) && typeof value[0] !== "object") return [path.join(".")];
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]));
}

function without<T>(body: T, path: string): T {
  const copy = structuredClone(body);
  const names = path.split(".");
  const last = names.pop() ?? "";
  const holder = names.reduce((inner: unknown, name) => (inner as Body)[name], copy);
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete (holder as Body)[last];
  return copy;
}

function isRead(name: Name, body: unknown, path: string): boolean {
  const whole = read(name, body);
  try {
    return !isDeepStrictEqual(read(name, without(body, path)), whole);
  } catch {
    return true;
  }
}

describe("each field of a body of another gateway is read, refused by name, or known to be harmless", () => {
  test.each(BODIES)("%s", (_, name, body, refused, ignored, meaning = {}) => {
    expect(refusedFields(name, body).sort()).toEqual([...refused].sort());
    const accepted = refused.reduce(without<Body>, body);
    expect(read(name, accepted)).toMatchObject(meaning);
    const unread = pathsOf(accepted).filter((path) => !isRead(name, accepted, path));
    expect(unread.sort()).toEqual([...ignored].sort());
  });
});

describe("a body of another gateway is converted to the same meaning", () => {
  test.each(UNCHANGED)("%s", (_, name, body, meaning) => {
    expect(read(name, body)).toMatchObject(meaning);
  });
});

test("an id of this gateway is not mistaken for an id of another gateway", () => {
  for (const id of ["3EB0AA", "AC1_2", "true", "12:3", "ABC:DEF", "true_x"]) {
    expect(read("deleteMessage", { message_id: id })).toMatchObject({ message_id: id });
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
    expect(() => read(name, body)).toThrow();
  }
});

test.each<[Name, Body, string]>([
  ["sendText", { schedule_at: 1_764_583_200 }, "schedule_at"],
  ["sendMedia", { SendAt: "10:00" }, "SendAt"],
  ["sendText", { everyone: true }, "everyone"],
  ["sendLocation", { mentions_everyone: true }, "mentions_everyone"],
  ["send", { MENTION_ALL: 1 }, "MENTION_ALL"],
  ["sendText", { mentionedJid: ["all"] }, "mentionedJid"],
  ["sendMedia", { viewonce: "true" }, "viewonce"],
  ["send", { "view-once": true }, "view-once"],
  ["sendText", { forwardingScore: 3 }, "forwardingScore"],
  ["sendText", { contextInfo: { forwardingScore: 2 } }, "contextInfo.forwardingScore"],
  ["sendText", { mention_everyone: true }, "mention_everyone"],
  ["sendText", { mentionEveryone: "true" }, "mentionEveryone"],
  ["sendMedia", { mentionsAll: 1 }, "mentionsAll"],
  ["sendText", { hidetag: true }, "hidetag"],
  ["sendText", { ghostMention: true }, "ghostMention"],
  ["sendText", { options: { ghost_mention: true } }, "options.ghost_mention"],
  ["sendText", { options: { mentionedList: ["all"] } }, "options.mentionedList"],
  ["sendText", { contextInfo: { mentionedJid: ["all"] } }, "contextInfo.mentionedJid"],
  ["send", { viewOnceMessage: { message: {} } }, "viewOnceMessage"],
  ["sendText", { editMessageId: "3EB0AA" }, "editMessageId"],
  ["sendText", { edit: KEY }, "edit"],
  ["sendText", { deliverAt: "2026-12-01T10:00:00Z" }, "deliverAt"],
  ["sendText", { date_to_send: 1_764_583_200 }, "date_to_send"],
  ["sendText", { options: { sendAt: "10:00" } }, "options.sendAt"],
  ["sendText", { dry_run: true }, "dry_run"],
  ["sendLocation", { dryRun: "yes" }, "dryRun"],
  ["sendText", { options: { messageId: "3EB0AA" } }, "options.messageId"],
  ["sendLocation", { liveLocation: true }, "liveLocation"],
  ["send", { live_location: { seconds: 60 } }, "live_location"],
  ["sendLocation", { liveDuration: 900 }, "liveDuration"],
  ["sendMedia", { asDocument: true }, "asDocument"],
  ["sendMedia", { options: { sendMediaAsDocument: true } }, "options.sendMediaAsDocument"],
  ["send", { hd: true }, "hd"],
  ["send", { numbers: [NUMBER, CHAT] }, "numbers"],
  ["sendText", { duration: 86_400 }, "duration"],
  ["sendText", { viewOnce: true }, "viewOnce"],
  ["sendLocation", { view_once: true }, "view_once"],
  ["sendContact", { isViewOnce: true, name: "Bia", phone: NUMBER }, "isViewOnce"],
  ["sendReply", { as_view_once: 1, message_id: "3EB0AA" }, "as_view_once"],
  ["sendMedia", { options: { sendMediaAsSticker: true } }, "options.sendMediaAsSticker"],
  ["sendMedia", { as_sticker: "true" }, "as_sticker"],
  ["sendMedia", { sendAsDocument: true }, "sendAsDocument"],
  ["setPresence", { media: "Audio", presence: "composing" }, "media"],
  ["deleteMessage", { message_id: "3EB0AA", for: "me" }, "for"],
  ["deleteMessage", { message_id: "3EB0AA", delete_for: "me" }, "delete_for"],
  ["deleteMessage", { message_id: "3EB0AA", deleteFor: "Me only" }, "deleteFor"],
  ["deleteMessage", { message_id: "3EB0AA", everybody: false }, "everybody"],
  ["deleteMessage", { message_id: "3EB0AA", options: { whom: "only for me" } }, "options.whom"],
])("%s refuses %j in the spelling that was sent", (name, body, field) => {
  expect(refusedFields(name, { number: NUMBER, text: "Hi", latitude: 1, longitude: 2, ...body })).toEqual([
    field,
  ]);
});

test.each<[Name, Body, Body]>([
  ["sendText", { reply_message_id: "3EB0AA" }, { reply_to: "3EB0AA" }],
  ["sendText", { replyToMessageId: "3EB0AA" }, { reply_to: "3EB0AA" }],
  ["send", { options: { replyMessageId: WAHA_ID } }, { reply_to: "3EB0AA" }],
  ["sendLocation", { contextInfo: { stanzaId: "3EB0AA" } }, { reply_to: "3EB0AA" }],
  ["sendText", { scheduledAt: "2026-12-01T10:00:00Z" }, { send_at: "2026-12-01T10:00:00Z" }],
  ["sendText", { options: { sendAt: "2026-12-01T10:00:00Z" } }, { send_at: "2026-12-01T10:00:00Z" }],
  ["sendText", { preview_url: true }, { link_preview: true }],
  ["sendMedia", { url: URL, asVoice: true }, { ptt: true }],
  ["sendMedia", { url: URL, options: { asGif: true } }, { gif_playback: true }],
  ["sendMedia", { url: URL, gif: true }, { gif_playback: true }],
  ["sendMedia", { mediaMessage: { media: "AAAA", viewOnce: true } }, { view_once: true }],
  ["sendMedia", { url: URL, options: { viewOnce: true } }, { view_once: true }],
  ["send", { ViewOnce: true, url: URL }, { view_once: true }],
])("%s reads %j, which the clients of more gateways send", (name, body, meaning) => {
  expect(read(name, { number: NUMBER, text: "Hi", latitude: 1, longitude: 2, ...body })).toMatchObject(
    meaning,
  );
});

test("a name that the route reads is not refused for one that differs only in its case", () => {
  const other = `5511999990002@s.whatsapp.net`;
  expect(read("sendText", { number: NUMBER, text: "Hi", id: 4, forwardingScore: 0 })).toMatchObject({
    id: 17,
  });
  expect(read("sendText", { number: NUMBER, text: "Hi", mentionedJid: [other] })).toMatchObject({
    mentions: [other],
  });
});

test("a field that asks for nothing is not refused", () => {
  for (const off of [false, null, 0, "", "false", "0", [], {}]) {
    const body = { number: NUMBER, text: "Hi", mentionsEveryOne: off, buttons: off, footer: off };
    expect(read("sendText", body)).toMatchObject({ text: "Hi" });
  }
  expect(read("deleteMessage", { id: "3EB0AA", for_everyone: true })).toMatchObject({ message_id: "3EB0AA" });
});

test("a deletion that is asked for anything but everyone in the words of other gateways is refused", () => {
  const denied = [false, 0, "false", "False ", "0", "no", "n", "off", "não", "x", 2, [], {}, [true]];
  const unclear = ["x", 2, [], {}, [true]];
  const asked: Body[] = [
    ...denied.flatMap((off) => [{ DeleteForEveryone: off }, { revoke: off }]),
    ...unclear.map((value) => ({ for_everyone: value })),
    ...["onlySenderDelete", "onlyMe", "local", "forMe"].flatMap((name) => [
      { [name]: true },
      { [name]: "yes" },
    ]),
    ...["scope", "type", "deleteType", "delete_type", "mode"].flatMap((name) =>
      ["me", "SELF", "only_me", "everyone but me", 1].map((whom) => ({ [name]: whom })),
    ),
  ];
  const deleted = asked.filter((body) => refusedFields("deleteMessage", { ...KEY, ...body }).length !== 1);
  expect(deleted).toEqual([]);
});

test("a deletion for everyone accepts the field names of other gateways", () => {
  for (const on of [true, "true", null, ""])
    expect(read("deleteMessage", { ...KEY, for_everyone: on })).toMatchObject({ for_everyone: true });
  for (const on of [true, 1, "true", " True", "1", null, ""])
    expect(read("deleteMessage", { ...KEY, everyone: on })).toMatchObject({ message_id: KEY.id });
  for (const whom of ["everyone", "ALL", "for_everyone", "deleteForEveryone", "revoke", null])
    expect(read("deleteMessage", { ...KEY, scope: whom, type: whom })).toMatchObject({ message_id: KEY.id });
  expect(read("deleteMessage", { ...KEY, onlyMe: false, local: "false" })).toMatchObject({
    message_id: KEY.id,
  });
});

test("the names of other clients for a quote, a mention and the kind of a file are read", () => {
  const sent = { number: NUMBER, text: "Hi" };
  for (const name of ["quotedMsgId", "quotedMsg", "quote", "quotedMessageId"])
    expect([name, read("sendText", { ...sent, [name]: "3EB0AA" })]).toMatchObject([
      name,
      { reply_to: "3EB0AA" },
    ]);
  for (const body of [{ context: { message_id: "3EB0AA" } }, { options: { quotedMsg: "3EB0AA" } }])
    expect(read("sendText", { ...sent, ...body })).toMatchObject({ reply_to: "3EB0AA" });
  for (const body of [{ mentionedList: [JID] }, { options: { mentionedList: [JID] } }])
    expect(read("sendText", { ...sent, ...body })).toMatchObject({ mentions: [JID] });
  const file = { number: NUMBER, base64: "AAAA" };
  const kinds = { sendAudioAsVoice: "ptt", isPtv: "ptv", sendVideoAsGif: "gif_playback" };
  for (const [name, own] of Object.entries(kinds))
    for (const body of [{ [name]: true }, { options: { [name]: true } }])
      expect([name, read("sendMedia", { ...file, ...body })]).toMatchObject([name, { [own]: true }]);
});

test("a file in the field of a sticker or a voice note has this type, unless the request says another", () => {
  const type = (body: Body) => (read("sendMedia", { number: NUMBER, ...body }) as { type?: string }).type;
  expect(type({ sticker: "AAAA" })).toBe("sticker");
  expect(type({ Audio: "AAAA", ptt: null })).toBe("ptt");
  expect(type({ audio: "AAAA", type: "audio" })).toBe("audio");
  expect(type({ audio: "AAAA", ptt: false })).toBeUndefined();
  expect(type({ media: "AAAA", sticker: "" })).toBeUndefined();
});

test("the migration page names every field that is refused or ignored", () => {
  const page = readFileSync(`${ROOT}docs/start/migration.md`, "utf8");
  const isNamed = (name: string) =>
    [`\`${name}\``, `.${name}\``, `\`${name}:`, `"${name}":`].some((text) => page.includes(text));
  const names = BODIES.flatMap(([, , , refused, ignored]) => [...refused, ...ignored]);
  const leaves = names.map(
    (name) =>
      name
        .split(".")
        .filter((part) => !/^\d+$/.test(part))
        .at(-1) ?? name,
  );
  expect([...new Set(leaves)].filter((name) => !isNamed(name))).toEqual([]);
});

test("the migration page names every route that accepts bodies of other gateways", () => {
  const text = readFileSync(`${ROOT}docs/start/migration.md`, "utf8");
  const missing = [...new Set([...BODIES, ...UNCHANGED].map(([, name]) => contract[name].http))].filter(
    (http) => {
      const path = http.split(" ")[1]?.replace("/api/v1/instances/:id", "") ?? "";
      return path !== "" && !text.includes(`\`${path}\``) && !text.includes(` ${path}\``);
    },
  );
  expect(missing).toEqual([]);
});
