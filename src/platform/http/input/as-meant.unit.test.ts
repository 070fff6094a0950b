import { expect, test } from "vitest";
import { z } from "zod";
import { contract } from "../../../contract.ts";
import { GatewayError } from "../../gateway-error.ts";
import { asMeant } from "./as-meant.ts";
import { readInput } from "./read-input.ts";

type Name = keyof typeof contract;
type Fields = Record<string, unknown>;

/** The input that a route reads from a body or query, or the error message. */
function read(name: Name, sent: Fields): unknown {
  const path = { id: "1", webhookId: "2", messageId: "A", jid: "120363025246125486@g.us" };
  try {
    const isGet = contract[name].http.startsWith("GET ");
    return readInput(contract[name], { path, query: isGet ? sent : {}, body: sent });
  } catch (error) {
    return error instanceof GatewayError ? error.message : error;
  }
}

const to = { number: "5511999990004" };
const text = { ...to, text: "x" };
const file = { ...to, base64: "aGk=" };

const EMPTY: [Name, Fields, string[]][] = [
  ["sendText", text, ["reply_to", "track_id", "client_message_id", "delay", "mode", "async", "jid", "phone"]],
  [
    "sendMedia",
    file,
    ["url", "type", "mime_type", "file_name", "ptt", "gif_playback", "trackId", "mediatype"],
  ],
  ["sendContact", { ...to, name: "Bia", phone: "5511977771234" }, ["vcard", "contact", "track_id"]],
  ["send", text, ["url", "base64", "file", "message_id", "instance_id", "type", "latitude", "vcard"]],
  ["createLead", { name: "Ana" }, ["phone", "email", "kanban_status"]],
  ["createCampaign", { name: "A", instance_id: 1, message_template: "x" }, ["min_delay_ms", "scheduled_at"]],
  ["updateWebhook", { name: "Shop" }, ["max_attempts", "ordering", "is_active"]],
  ["listMessages", { limit: "5" }, ["chat", "q", "track_id", "from", "type"]],
];

test.each(EMPTY)("an empty text in an optional field of %s is an absent field", (name, whole, fields) => {
  const plain = read(name, whole);
  expect(plain).toBeTypeOf("object");
  for (const field of fields)
    expect({ field, is: read(name, { ...whole, [field]: "" }) }).toEqual({ field, is: plain });
});

test("an empty text stays where it has a meaning, where the field is required, and where it could clear a field", () => {
  expect(read("react", { message_id: "A", reaction: "" })).toMatchObject({ reaction: "" });
  expect(read("react", { message_id: "A", reaction: "", emoji: "👍" })).toMatchObject({ reaction: "" });
  expect(read("editMessage", { message_id: "A", text: "" })).toBe("text: must not be empty");
  expect(read("updateLead", { email: "" })).toMatch(/^email: /);
  expect(read("updateInstance", { name: "" })).toMatch(/^name: /);
  expect(read("addRecipients", { numbers: ["", "5511999990004"] })).toMatchObject({
    numbers: ["", "5511999990004"],
  });
});

test("an empty field leaves its place to an alias with a value", () => {
  expect(read("sendMedia", { ...to, url: "", mediaUrl: "https://shop.test/a.png" })).toMatchObject({
    url: "https://shop.test/a.png",
  });
  expect(read("sendText", { number: "", chatId: "5511999990004", text: "x" })).toMatchObject(to);
});

test("a number as text is read where only a number fits, and a text where only a text fits", () => {
  expect(read("createWebhook", { url: "https://shop.test", max_attempts: "3" })).toMatchObject({
    max_attempts: 3,
  });
  expect(
    read("createCampaign", { name: 2026, instance_id: "7", message_template: 5, daily_limit: " 40 " }),
  ).toMatchObject({ name: "2026", instance_id: 7, message_template: "5", daily_limit: 40 });
  expect(
    read("sendText", { number: 5511999990004, text: 12.5, track_id: 7, client_message_id: 0 }),
  ).toMatchObject({
    number: "5511999990004",
    text: "12.5",
    track_id: "7",
    client_message_id: "0",
  });
  expect(read("sendText", { ...text, async: "TRUE", link_preview: "false" })).toMatchObject({
    async: true,
    link_preview: false,
  });
});

test("a name of an enumeration may differ in case, blanks and dashes", () => {
  expect(read("sendMedia", { ...file, type: "IMAGE" })).toMatchObject({ type: "image" });
  expect(read("sendMedia", { ...file, mediatype: "PTV" })).toMatchObject({ type: "ptv" });
  expect(read("setPresence", { ...to, presence: "recording audio" })).toMatchObject({
    presence: "recording_audio",
  });
  expect(read("setPresence", { ...to, state: " Recording-Audio " })).toMatchObject({
    presence: "recording_audio",
  });
  expect(read("setPresence", { ...to, presence: "OFFLINE" })).toMatchObject({ presence: "unavailable" });
  expect(read("createWebhook", { url: "https://shop.test", events: ["Message.Received"] })).toMatchObject({
    events: ["message.received"],
  });
});

test.each<[Name, Fields, string]>([
  [
    "createWebhook",
    { url: "https://shop.test", max_attempts: "three" },
    "max_attempts: must be a whole number",
  ],
  [
    "createWebhook",
    { url: "https://shop.test", max_attempts: "0x3" },
    "max_attempts: must be a whole number",
  ],
  [
    "createWebhook",
    { url: "https://shop.test", max_attempts: "3e0" },
    "max_attempts: must be a whole number",
  ],
  ["createWebhook", { url: "https://shop.test", max_attempts: "33" }, "max_attempts: must be a whole number"],
  ["sendText", { ...text, track_id: 1e21 }, "track_id: must be text"],
  ["sendText", { ...text, track_id: 2 ** 60 }, "track_id: must be text"],
  ["sendText", { ...text, track_id: true }, "track_id: must be text"],
  ["sendText", { ...text, async: "yes" }, "async: must be true or false"],
  ["sendText", { ...text, async: 1 }, "async: must be true or false"],
  ["sendMedia", { ...file, type: "IMAGES" }, "type: must be one of image"],
  ["setPresence", { ...to, presence: "recordingaudio" }, "presence: must be one of"],
])("%s refuses %j, which is unclear", (name, sent, sentence) => {
  expect(read(name, sent)).toContain(sentence);
});

test("two names that differ only in case are not confused", () => {
  const either = z.object({ unit: z.enum(["m", "M", "s"]) });
  expect(asMeant(either, { unit: "M" }, "POST")).toEqual({ unit: "M" });
  expect(asMeant(either, { unit: "m " }, "POST")).toEqual({ unit: "m " });
  expect(asMeant(either, { unit: "S" }, "POST")).toEqual({ unit: "s" });
});

test("the time for a value with many wrong fields grows with their number, and long texts are not read", () => {
  let looks = 0;
  const counted = z.number();
  const { def } = counted._zod;
  Object.defineProperty(counted._zod, "def", {
    get: () => {
      looks += 1;
      return def;
    },
  });
  const list = z.object({ all: z.array(z.object({ n: counted.optional() })) });
  const looksFor = (count: number) => {
    looks = 0;
    asMeant(list, { all: Array(count).fill({ n: "x".repeat(1_000) }) }, "POST");
    return looks;
  };
  looksFor(1);
  expect(looksFor(2_000)).toBe(2 * looksFor(1_000));
});
