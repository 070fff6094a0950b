import { readPhoneNumber } from "../../../platform/phone/read-phone-number.ts";
import { readVcard } from "../../../platform/text/read-vcard.ts";
import { toMarkdown } from "./to-markdown.ts";

interface Speaker {
  jid?: string;
  phone: string | null;
  push_name: string | null;
}

/** A message as events contain it. */
export interface EventMessage {
  message_id: string;
  jid: string;
  lid: string | null;
  phone: string | null;
  from_me: boolean;
  is_group: boolean;
  sender: Speaker | null;
  type: string;
  text: string | null;
  caption: string | null;
  quoted: { id: string } | null;
  media: {
    id: string | null;
    type: string;
    mime_type: string;
    file_name: string | null;
  } | null;
  location: { latitude: number; longitude: number; name: string | null; address: string | null } | null;
  contacts: { name: string; phone: string; vcard: string | null }[] | null;
  unsupported?: { kind: string; reason: string } | null;
  origin: string;
  timestamp: string;
}

/** The text of a message for the inbox; of a file its caption. */
export function renderMessage(message: EventMessage): string {
  return withSpeaker(message, message.sender, wordsOf(message));
}

function wordsOf({ type, text, caption, media, location, contacts, unsupported }: EventMessage): string {
  if (text !== null) return toMarkdown(text);
  if (media) return caption === null ? "" : toMarkdown(caption);
  if (location) return renderLocation(location);
  if (contacts) return contacts.map(renderCard).join("\n\n");
  return `[This message can be read on the phone only: ${unsupported?.kind ?? type}]`;
}

function renderLocation({
  latitude,
  longitude,
  name,
  address,
}: NonNullable<EventMessage["location"]>): string {
  const link = `https://maps.google.com/?q=${latitude},${longitude}`;
  return ["📍", name, address, link].filter((part) => part !== null && part !== "").join("\n");
}

function renderCard({ name, phone, vcard }: NonNullable<EventMessage["contacts"]>[number]): string {
  const numbers = readVcard(vcard ?? "").phones.map(({ number }) => number);
  const byDigits = new Map<string, string>();
  for (const number of [`+${phone}`, ...numbers]) {
    const reading = readPhoneNumber(number);
    const digits = reading.is === "number" ? reading.digits : number;
    if (!byDigits.has(digits)) byDigits.set(digits, number);
  }
  return [`👤 ${name}`, ...byDigits.values()].join("\n");
}

/** In a group the text names the sender: the contact is the group. */
export function withSpeaker(
  { is_group, from_me }: Pick<EventMessage, "is_group" | "from_me">,
  speaker: Speaker | null,
  text: string,
): string {
  if (!is_group || from_me || !speaker) return text;
  const { phone, push_name } = speaker;
  const name = [phone === null ? null : `+${phone}`, push_name].filter((part) => part !== null).join(" – ");
  return `**${name || "?"}:**\n${text}`.trimEnd();
}

const EXTENSIONS: Record<string, string> = {
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/ogg": "ogg",
  "image/jpeg": "jpg",
  "text/plain": "txt",
  "video/quicktime": "mov",
};

/** The type without its parameters, such as codecs. */
export function bareType(mime_type: string): string {
  return mime_type.split(";")[0]?.trim().toLowerCase() || "application/octet-stream";
}

/** A name with which a browser can open the file. */
export function fileNameOf({ type, file_name, mime_type }: NonNullable<EventMessage["media"]>): string {
  const bare = bareType(mime_type);
  const extension = EXTENSIONS[bare] ?? /^[\w.-]+\/([a-z0-9]{2,5})$/.exec(bare)?.[1] ?? "bin";
  if (file_name !== null && /\.[A-Za-z0-9]{1,8}$/.test(file_name)) return file_name;
  return `${file_name ?? type}.${extension}`;
}
