/** Words that a title does not write like others. */
const WORDS: Readonly<Record<string, string>> = {
  api: "API",
  as: "as",
  id: "ID",
  ids: "IDs",
  in: "in",
  jid: "JID",
  json: "JSON",
  mime: "MIME",
  ms: "(Milliseconds)",
  of: "of",
  png: "PNG",
  qr: "QR",
  seconds: "(Seconds)",
  url: "URL",
  vcard: "vCard",
};

/** Fields whose name says too little. */
const NAMES: Readonly<Record<string, string>> = {
  "*": "[All]",
  after: "After Sequence",
  announce: "Only Admins Can Send",
  async: "Send in the Background",
  base64: "Base64",
  chat: "Chat",
  client_message_id: "Your Message ID",
  contact_name: "Card Name",
  contact_phone: "Card Phone",
  delay: "Typing Time (Milliseconds)",
  dry_run: "Only Count",
  eventId: "Event ID",
  from: "From Time",
  gif_playback: "Play as GIF",
  jid: "Chat or Group JID",
  locked: "Only Admins Can Edit",
  logId: "Log ID",
  messageId: "Message ID",
  message_ids: "Message IDs",
  number: "To",
  ptt: "Voice Note",
  q: "Search",
  recording_audio: "Recording Audio",
  task: "Action",
  to: "To Time",
  track_id: "Track ID",
  until: "Until Time",
  webhookId: "Webhook ID",
};

/** `message_id` as `Message ID`, and `message.*` as `Message [All]`. */
export function displayNameOf(name: string): string {
  const words = name
    .replace(".*", " [All]")
    .split(/[_\s]/)
    .map((word) => WORDS[word] ?? capitalise(word));
  return NAMES[name] ?? words.join(" ");
}

function capitalise(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** A switch of n8n says "Whether ...". The contract describes what `true` does. */
const SWITCHES: Readonly<Record<string, string>> = {
  archived: "Whether to return archived chats instead of the others",
  async: "Whether to return as soon as the gateway has stored the message; an event then reports the outcome",
  dry_run: "Whether to only count what would be sent again, and send nothing",
  for_everyone: "Whether everybody loses the message; off deletes it only on the phone of the instance",
  forwarded: "Whether phones show the message as forwarded",
  gif_playback: "Whether a video plays in a loop without sound, like a GIF",
  link_preview: "Whether to show a preview of the first link in the text",
  participants: "Whether to return the participants of each group",
  pinned: "Whether to return only pinned chats; off returns the others",
  played: "Whether the senders see voice notes as played",
  ptt: "Whether to send audio as a voice note",
  ptv: "Whether to send a video as a round video note",
  refresh: "Whether to ask the network instead of returning what the gateway knows",
  success: "Whether to return successful attempts instead of failed ones",
  unread: "Whether to return only chats with unread messages; off returns the others",
  synchronise: "Whether to ask the phone for its address book; its contacts arrive some seconds later",
};

const RECIPIENT = "Phone number with country and area code, or the JID of a chat or group";
const ISO_TIME = "2026-01-31T12:00:00Z";

/** Descriptions and examples where the contract has none, or one for programmers. */
const FIELDS: Readonly<Record<string, { description?: string; placeholder?: string; hint?: string }>> = {
  action: { description: "What to do" },
  caption: { description: "Text below the file" },
  chat: { placeholder: "5511999990004" },
  code: { description: "Link of the invitation, or its code" },
  "contact.name": { description: "Name on the contact card" },
  "contact.phone": { description: "Phone number on the contact card", placeholder: "5511977771234" },
  email: { placeholder: "name@email.com" },
  expires_at: { placeholder: ISO_TIME },
  event: { placeholder: "message.received" },
  event_id: { placeholder: "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP" },
  eventId: { placeholder: "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP" },
  file_name: { placeholder: "invoice.pdf" },
  image: { description: "Address of the picture, its base64, or a data URI" },
  from: { placeholder: ISO_TIME },
  jid: { description: "JID of the chat or group; for a chat also the phone number" },
  latitude: { placeholder: "-23.5614" },
  longitude: { placeholder: "-46.6559" },
  mentions: { description: "People mentioned in the text, separated by commas" },
  message_id: { description: "The ID of the message on the network", placeholder: "3EB0C431D2A5F96B7E8812" },
  message_ids: {
    description: "The IDs of the messages on the network, separated by commas",
    placeholder: "3EB0C431D2A5F96B7E8812",
  },
  messageId: { description: "The ID of the message", placeholder: "3EB0C431D2A5F96B7E8812" },
  mime_type: { placeholder: "application/pdf" },
  number: { description: RECIPIENT, placeholder: "5511999990004" },
  numbers: {
    description: "Phone numbers with country and area code, separated by commas",
    placeholder: "5511999990004, 5511999990005",
  },
  participants: {
    description: "Phone numbers with country and area code, or JIDs, separated by commas",
    placeholder: "5511999990004, 5511999990005",
  },
  reaction: { description: "One emoji; an empty text removes the reaction" },
  reply_to: { description: "The ID of the message to quote", placeholder: "3EB0C431D2A5F96B7E8812" },
  send_at: { placeholder: ISO_TIME },
  since: { placeholder: ISO_TIME },
  text: { description: "The text that others see" },
  to: { placeholder: ISO_TIME },
  url: { placeholder: "https://example.com/invoice.pdf" },
  until: { placeholder: ISO_TIME },
};

/** What n8n shows with a parameter. */
export function fieldDescription(
  path: string,
  isSwitch: boolean,
  contracted: string | undefined,
): { description?: string; placeholder?: string } {
  const own = FIELDS[path] ?? {};
  if (isSwitch) return { description: switchText(path, contracted) };
  const description = own.description ?? (contracted === undefined ? undefined : toN8nText(contracted));
  return { ...own, ...(description !== undefined && { description }) };
}

function switchText(path: string, contracted = ""): string {
  const text = SWITCHES[path] ?? (contracted.startsWith("Whether ") ? toN8nText(contracted) : undefined);
  if (text === undefined) throw new Error(`Describe the switch "${path}" of the n8n node in n8n-texts.ts.`);
  return text;
}

/** Plain text; a single sentence has no full stop in n8n. */
export function toN8nText(text: string): string {
  const plain = capitalise(text.replaceAll("`", "").replaceAll(/\bid\b/g, "ID"));
  const isOneSentence = !/[.!?] [A-Z]/.test(plain);
  return isOneSentence ? plain.replace(/\.$/, "") : plain;
}
