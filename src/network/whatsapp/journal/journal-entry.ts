import { createHash } from "node:crypto";
import { DEFAULT_CONNECTION_CONFIG, PROCESSABLE_HISTORY_TYPES, proto, unpadRandomMax16 } from "baileys";
import type { StoredJournalEntry } from "../../driver.ts";
import type { EncNode, ListRecipient } from "../stanzas/stanza.ts";

/** One decrypted ciphertext, with the parts of its stanza that the message needs. */
export interface JournalEntry {
  id: string;
  stanza: Record<string, string>;
  /** Of an own message to a broadcast list. */
  recipients?: readonly ListRecipient[] | undefined;
  enc: Record<string, string>;
  index: number;
  /** Number of ciphertexts in the stanza. */
  count: number;
  /** Padded, as Baileys requires. */
  plaintext: Buffer;
  /** Contains a sender key of a group. */
  hasSenderKey: boolean;
  /** Contains nothing except a sender key. */
  isSenderKeyOnly: boolean;
  /** Cannot be decoded. */
  isUndecoded: boolean;
}

/** The hash of the ciphertext; unlike a message id, no sender can choose it. */
export function journalEntryId(ciphertext: Uint8Array): string {
  return createHash("sha256").update(ciphertext).digest("base64url");
}

/** A message without content, padded. */
const EMPTY = Buffer.from([1]);

interface Body {
  s: Record<string, string>;
  e: Record<string, string>;
  i: number;
  n: number;
  p: string;
  k: number;
  r?: readonly ListRecipient[] | undefined;
}

export function toStoredEntry(entry: JournalEntry): StoredJournalEntry {
  return { id: entry.id, body: JSON.stringify(toBody(entry)), is_done: false };
}

/** A marker that identifies the ciphertext again. It keeps a sender key, so that the key counts as applied. */
export function toDedupMarker(entry: JournalEntry): StoredJournalEntry {
  const plaintext = entry.hasSenderKey ? entry.plaintext : EMPTY;
  return {
    id: entry.id,
    body: JSON.stringify(toBody({ ...entry, plaintext, recipients: undefined })),
    is_done: true,
  };
}

function toBody(entry: JournalEntry): Body {
  const {
    stanza,
    recipients: r,
    enc,
    index,
    count,
    plaintext,
    hasSenderKey,
    isSenderKeyOnly,
    isUndecoded,
  } = entry;
  const k = (hasSenderKey ? 1 : 0) + (isSenderKeyOnly ? 2 : 0) + (isUndecoded ? 4 : 0);
  return { s: stanza, e: enc, i: index, n: count, p: plaintext.toString("base64"), k, ...(r && { r }) };
}

export function fromStoredEntry({ id, body }: StoredJournalEntry): JournalEntry {
  const { s, e, i, n, p, k, r } = JSON.parse(body) as Body;
  const plaintext = Buffer.from(p, "base64");
  return {
    id,
    stanza: s,
    recipients: r,
    enc: e,
    index: i,
    count: n,
    plaintext,
    hasSenderKey: (k & 1) === 1,
    isSenderKeyOnly: (k & 2) === 2,
    isUndecoded: (k & 4) === 4,
  };
}

/** The position of a ciphertext in its stanza. */
export interface CiphertextPosition {
  stanza: Record<string, string>;
  recipients?: readonly ListRecipient[] | undefined;
  index: number;
  count: number;
  enc: EncNode;
}

export function toJournalEntry(
  { stanza, recipients, index, count, enc }: CiphertextPosition,
  plaintext: Uint8Array,
): JournalEntry {
  const decoded = decode(plaintext);
  const message = decoded?.deviceSentMessage?.message ?? decoded ?? {};
  const named = Object.keys(message).filter((name) => name !== "messageContextInfo");
  const hasSenderKey = message.senderKeyDistributionMessage != null;
  return {
    id: journalEntryId(enc.content),
    stanza,
    recipients,
    index,
    count,
    enc: enc.attrs,
    hasSenderKey,
    plaintext: Buffer.from(plaintext),
    isSenderKeyOnly: hasSenderKey && named.length === 1,
    isUndecoded: decoded === undefined,
  };
}

/**
 * The plaintext for Baileys. One that it could not decode, Baileys would refuse, and the network would withhold
 * everything behind it; the entry keeps the bytes.
 */
export function readableOf({
  plaintext,
  isUndecoded,
}: Pick<JournalEntry, "plaintext" | "isUndecoded">): Buffer {
  return isUndecoded ? EMPTY : plaintext;
}

/** The message of a padded plaintext; empty if it cannot be decoded. */
export function readMessage(plaintext: Uint8Array): proto.IMessage {
  const message = decode(plaintext) ?? {};
  return message.deviceSentMessage?.message ?? message;
}

/** What a padded plaintext says about its message. */
export function readMessageContext(plaintext: Uint8Array): proto.IMessageContextInfo | null | undefined {
  return decode(plaintext)?.messageContextInfo;
}

/** The plaintext itself if its padding is none. */
export function unpadded(plaintext: Uint8Array): Uint8Array {
  try {
    return unpadRandomMax16(plaintext);
  } catch {
    return plaintext;
  }
}

function decode(plaintext: Uint8Array): proto.IMessage | undefined {
  try {
    return proto.Message.decode(unpadRandomMax16(plaintext));
  } catch {
    return undefined;
  }
}

/** Data of our own phone from before the pairing, if Baileys makes an event of it. */
export function isHistorySync({ plaintext }: JournalEntry): boolean {
  const reported = readMessage(plaintext).protocolMessage?.historySyncNotification;
  if (!reported || !PROCESSABLE_HISTORY_TYPES.some((type) => Number(type) === reported.syncType))
    return false;
  return DEFAULT_CONNECTION_CONFIG.shouldSyncHistoryMessage(reported);
}
