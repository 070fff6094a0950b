import type { z } from "zod";
import { type VcardFields, writeVcard } from "../../../../network/content/write-vcard.ts";
import type { ContactContent, Jid } from "../../../../network/driver.ts";
import type { Db } from "../../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../../platform/gateway-error.ts";
import type { PhoneCountry } from "../../../../platform/phone/read-phone-number.ts";
import { completeVcard, readVcard } from "../../../../platform/text/read-vcard.ts";
import { type Recipient, readAddress, readPhone, resolveRecipient } from "../../../contacts/contacts.ts";
import { cardName, type messagesContract } from "../../contract.ts";
import { type MessageRow, type StoredContent, selectMessages, toQuoted } from "../../log/message-view.ts";
import { type AskInput, readAskInput } from "../../polls/read-ask-input.ts";
import { type PollInput, readPollInput } from "../../polls/read-poll-input.ts";
import { fetchLinkPreview } from "./fetch-link-preview.ts";
import { readAlbum } from "./read-album.ts";
import { type ForwardOptions, readForwarded } from "./read-forwarded.ts";
import { type MediaOptions, readMedia, SHOWN_ONCE, type StorageOwner } from "./read-media.ts";

/** All fields of all send routes. */
export type SendInput = Partial<z.output<(typeof messagesContract)["send"]["input"]>> &
  Pick<z.output<(typeof messagesContract)["sendMedia"]["input"]>, "items"> & {
    poll?: PollInput;
    ask?: AskInput;
  };

export type ContentKind = "text" | "media" | "location" | "contact" | "reply" | "poll" | "forward" | "ask";

export interface ReadContentOptions extends MediaOptions {
  /** Of the numbers in the request without a country code. */
  country?: PhoneCountry;
}

/** Those that `POST /api/v1/send` accepts. */
type InferredKind = Exclude<ContentKind, "poll" | "forward" | "ask">;

const KINDS: readonly string[] = ["text", "media", "location", "contact", "reply"] satisfies InferredKind[];

/** The named kind, or the kind whose fields are present. */
export function inferKind(input: SendInput): InferredKind {
  const { type } = input;
  if (isKind(type)) return type;
  if (type !== undefined || hasFile(input)) return "media";
  if (input.latitude !== undefined || input.longitude !== undefined) return "location";
  if (input.contact !== undefined || input.vcard !== undefined) return "contact";
  if (input.quick_reply !== undefined) return "text";
  if (input.text !== undefined) return input.message_id === undefined ? "text" : "reply";
  if (input.name !== undefined && input.phone !== undefined) return "contact";
  throw invalidField(
    "type",
    "is required: the request has no text, file, location or contact to send",
    "missing",
  );
}

function isKind(type: SendInput["type"]): type is InferredKind {
  return type !== undefined && KINDS.includes(type);
}

function hasFile({ url, base64, file }: SendInput): boolean {
  return url !== undefined || base64 !== undefined || file !== undefined;
}

/** The message that a send quotes. Throws MESSAGE_NOT_FOUND if the instance's log does not contain it. */
export async function findQuoted(
  db: Db,
  instanceId: number,
  kind: ContentKind,
  { message_id, reply_to }: SendInput,
): Promise<MessageRow | undefined> {
  if (kind === "reply" && message_id === undefined)
    throw invalidField("message_id", "is required: the message to reply to", "missing");
  const quotedId = kind === "reply" ? message_id : reply_to;
  if (quotedId === undefined) return undefined;
  return selectMessages(db)
    .where("m.instance_id", "=", instanceId)
    .where("m.message_id", "=", quotedId)
    .executeTakeFirstOrThrow(
      () => new GatewayError("MESSAGE_NOT_FOUND", "The message to quote is not in the log of this instance."),
    );
}

/** The named recipient, or the chat of the quoted message. `phone` may belong to the contact card instead. */
export function readRecipient(
  kind: ContentKind,
  { jid, number, phone, contact }: SendInput,
  quoted: MessageRow | undefined,
  country?: PhoneCountry,
): Recipient {
  const target = { jid, number, phone: kind === "contact" && !contact ? undefined : phone };
  const isNamed = Object.values(target).some((value) => value !== undefined);
  return resolveRecipient(quoted && !isNamed ? { jid: quoted.jid } : target, country);
}

/** The texts of a send that can be phone numbers. */
export function phonesOf({ jid, number, phone, contact, vcard, mentions = [] }: SendInput) {
  const card = vcard === undefined ? [] : phonesOfVcard(vcard);
  const cards = [contact ?? []]
    .flat()
    .flatMap((one) => ("vcard" in one ? phonesOfVcard(one.vcard) : one.phone));
  return [jid, number, phone, ...cards, ...mentions, ...card];
}

function phonesOfVcard(vcard: string): string[] {
  return readVcard(vcard).phones.map(({ number }) => number);
}

/** Reads the content of a send, which an album has several of. Stores a file only after all other checks. */
export async function readContents(
  options: ReadContentOptions & ForwardOptions,
  kind: ContentKind,
  input: SendInput,
  quote: { of: MessageRow; to: Jid } | undefined,
): Promise<[StoredContent, ...StoredContent[]]> {
  const mentions = input.mentions?.map((mention) => readAddress("mentions", mention, options.country).jid);
  const context = {
    ...(quote && { quoted: toQuoted(quote.of, quote.to) }),
    ...(mentions?.length && { mentions }),
    ...(input.forwarded && { forwarded: { score: 1 } }),
  };
  const [first, ...others] = await (input.items
    ? readAlbum(input, input.items, options)
    : [await readBody(options, kind, input)]);
  return [{ ...first, ...context }, ...others.map((one) => ({ ...one, ...context }))];
}

async function readBody(
  options: ReadContentOptions & ForwardOptions,
  kind: ContentKind,
  input: SendInput,
): Promise<StoredContent> {
  if (kind !== "media" && input.view_once)
    throw invalidField("view_once", `is not allowed here: ${SHOWN_ONCE}`, "not_allowed_here");
  switch (kind) {
    case "text":
    case "reply":
      return readText(input, options);
    case "media":
      return readMedia(
        {
          ...input,
          type: mediaType(input.type),
          ptv: input.ptv || input.type === "ptv",
          caption: input.caption || input.text,
          is_quick_reply: input.quick_reply !== undefined,
        },
        options,
      );
    case "location":
      return readLocation(input);
    case "contact":
      return readCards(input, options.country);
    case "poll":
      return readPollInput(requireField(input.poll));
    case "ask":
      return readAskInput(requireField(input.ask));
    case "forward":
      return readForwarded(options, input.message_id ?? "");
  }
}

/** The route has set it. */
function requireField<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("The send has no content.");
  return value;
}

function mediaType(type: SendInput["type"]) {
  if (type === "ptv") return "video";
  return isKind(type) ? undefined : type;
}

async function readText(
  { text, link_preview }: SendInput,
  { outgoing, account_id }: ReadContentOptions & StorageOwner,
): Promise<StoredContent> {
  if (text === undefined) throw invalidField("text", "is required: the text of the message", "missing");
  if (!link_preview) return { kind: "text", text };
  const preview = await fetchLinkPreview(text, { outgoing, tenant: { account_id } });
  return { kind: "text", text, link_preview, ...(preview && { preview }) };
}

function readLocation({ latitude, longitude, name, address }: SendInput): StoredContent {
  if (latitude === undefined)
    throw invalidField("latitude", "is required: degrees from -90 to 90", "missing");
  if (longitude === undefined)
    throw invalidField("longitude", "is required: degrees from -180 to 180", "missing");
  return { kind: "location", latitude, longitude, ...(name && { name }), ...(address && { address }) };
}

function readCards({ contact, ...input }: SendInput, country?: PhoneCountry): StoredContent {
  if (!Array.isArray(contact)) return readCard({ ...input, contact }, country);
  const [first, ...more] = contact.map((one) => readCard("vcard" in one ? one : { contact: one }, country));
  if (!first) throw invalidField("contact", "is required: the contact to send", "missing");
  return { ...first, ...(more.length > 0 && { more: more.map(({ kind: _, ...card }) => card) }) };
}

type CardInput = Omit<SendInput, "contact"> & {
  contact?: Exclude<SendInput["contact"], readonly unknown[]>;
};

/** Reads a contact card from a vCard, the object `contact`, or `name` and `phone`. */
function readCard(
  { contact, vcard, name, phone, organization, email, url }: CardInput,
  country?: PhoneCountry,
): ContactContent {
  const fields = { name, phone, organization, email, url };
  const contactCard: Partial<VcardFields> =
    vcard === undefined ? (contact ?? fields) : parseWholeVcard(vcard);
  if (contactCard.name === undefined)
    throw invalidField("name", "is required: the name of the contact", "missing");
  if (contactCard.phone === undefined)
    throw invalidField("phone", "is required: the phone of the contact", "missing");
  if (!cardName.safeParse(contactCard.name).success)
    throw invalidField("name", "must be one line of 1 to 200 characters", "wrong_format", { max: 200 });
  const first = readPhone("phone", contactCard.phone, country);
  const card = { kind: "contact", name: contactCard.name, phone: first } as const;
  if (vcard === undefined)
    return isPlain(contactCard) ? card : { ...card, vcard: writeVcard({ ...contactCard, ...card }) };
  const waidOf = (number: string) => (number === contactCard.phone ? first : findPhone(number));
  return { ...card, vcard: completeVcard(vcard, waidOf) };
}

function isPlain({ organization, email, url }: Partial<VcardFields>): boolean {
  return !organization && !email && !url;
}

/** The digits of a phone in international format. */
function findPhone(number: string): string | undefined {
  try {
    return number.startsWith("+") ? readPhone("vcard", number) : undefined;
  } catch {
    return undefined;
  }
}

/** The name and the first phone of a whole vCard. Throws VALIDATION_ERROR for text that is not a vCard. */
function parseWholeVcard(text: string): { name?: string; phone?: string } {
  const { begins, ends, name, phones } = readVcard(text);
  if (!begins) throw invalidField("vcard", "does not begin with BEGIN:VCARD", "wrong_format");
  if (!ends) throw invalidField("vcard", "does not end with END:VCARD", "wrong_format");
  return { name, phone: phones[0]?.number };
}
