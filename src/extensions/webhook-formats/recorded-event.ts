/** The parts of a recorded event's body that the formats read. */
export interface RecordedEvent {
  event_id: string;
  event: string;
  instance_id: string;
  timestamp: string;
  instance: { id: number; name: string; phone: string | null; metadata: Record<string, unknown> };
  data: RecordedEventData;
}

export interface RecordedPerson {
  jid: string;
  lid: string | null;
  phone: string | null;
  push_name: string | null;
}

export interface RecordedMedia {
  url: string | null;
  type: "image" | "video" | "audio" | "ptt" | "document" | "sticker";
  mime_type: string;
  file_name: string | null;
  size: number;
  seconds: number | null;
}

export interface RecordedMessage {
  id: number;
  message_id: string;
  from_me: boolean;
  jid: string;
  lid: string | null;
  phone: string | null;
  is_group: boolean;
  sender: RecordedPerson | null;
  type: string;
  text: string | null;
  caption: string | null;
  quoted: { id: string; from_me: boolean; sender?: string; text?: string } | null;
  media: RecordedMedia | null;
  location: { latitude: number; longitude: number; name: string | null; address: string | null } | null;
  choice?: { id: string | null } | null;
  contacts: { name: string; phone: string; vcard: string | null }[] | null;
  unsupported?: { kind: string; reason: string } | null;
  status: string;
  origin: string;
  timestamp: string;
  track_id: string | null;
}

/** One type for all events; a field that an event lacks is absent. */
export interface RecordedEventData {
  message?: RecordedMessage;
  conversation?: { id: number; title: string | null };
  message_id?: string;
  message_ids?: string[];
  jid?: string;
  at?: string;
  text?: string | null;
  by?: RecordedPerson;
  /** For a receipt in a group: the member who received or read the message. */
  participant?: Omit<RecordedPerson, "push_name"> | null;
  reaction?: string;
  sender?: RecordedPerson;
  status?: string;
  reason?: string | null;
  will_retry?: boolean;
  qr?: string;
  qr_code?: string;
  /** WebAuthn options of a passkey. */
  challenge?: Record<string, unknown>;
  /** The code of a passkey, which the user compares. */
  code?: string;
}

const PHONE_HOST = "@s.whatsapp.net";

/** The instance's own JID, if it has one. */
export function ownJid({ instance }: RecordedEvent): string | undefined {
  return instance.phone === null ? undefined : `${instance.phone}${PHONE_HOST}`;
}

export function phoneJid(phone: string | null | undefined): string | undefined {
  return phone ? `${phone}${PHONE_HOST}` : undefined;
}

export function secondsOf(time: string): number {
  return Math.floor(Date.parse(time) / 1000);
}

/** Edits, deletions and reactions are separate messages whose ids the event does not contain. */
export function actionId({ event_id }: RecordedEvent): string {
  return event_id.replace(/^evt_/, "");
}

/** The chat of a message, or of an action's target, which may be missing from the log. */
export function chatOf({ message, jid }: RecordedEventData): string {
  return message?.jid ?? jid ?? "";
}

export function isGroup(jid: string): boolean {
  return jid.endsWith("@g.us");
}

/** Whether the instance itself edited, deleted or reacted. */
export function isOwnAction({ data, instance }: RecordedEvent): boolean {
  const by = data.by ?? data.sender;
  return by !== undefined && by.phone !== null && by.phone === instance.phone;
}

/** If the target is not in the log, the author decides, provided that only the author may act on it. */
export function isOwnTarget(event: RecordedEvent): boolean {
  return event.data.message?.from_me ?? (event.data.reaction === undefined && isOwnAction(event));
}
