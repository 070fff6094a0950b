import { createHash } from "node:crypto";
import { DEFAULT_CONNECTION_CONFIG, PROCESSABLE_HISTORY_TYPES, proto, unpadRandomMax16 } from "baileys";
import type { StoredJournalEntry } from "../../driver.ts";
import type { EncNode } from "./stanza.ts";

/** One ciphertext that was decrypted, with as much of its stanza as the message needs. */
export interface JournalEntry {
  id: string;
  stanza: Record<string, string>;
  enc: Record<string, string>;
  index: number;
  /** Ciphertexts of the stanza. */
  count: number;
  /** Padded, as the client library wants it. */
  plaintext: Buffer;
  /** Brings the key of a sender in a group. */
  hasSenderKey: boolean;
  /** Nothing but that. */
  isSenderKeyOnly: boolean;
}

/** Chosen by nobody, unlike the id of a message: the hash of the ciphertext. */
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
}

export function toStoredEntry(entry: JournalEntry): StoredJournalEntry {
  return { id: entry.id, body: JSON.stringify(toBody(entry)), is_done: false };
}

/** Enough to know the ciphertext again and to answer it; a sender key is kept, so that it counts as applied. */
export function toDedupMarker(entry: JournalEntry): StoredJournalEntry {
  const plaintext = entry.hasSenderKey ? entry.plaintext : EMPTY;
  return { id: entry.id, body: JSON.stringify(toBody({ ...entry, plaintext })), is_done: true };
}

function toBody({ stanza, enc, index, count, plaintext, hasSenderKey, isSenderKeyOnly }: JournalEntry): Body {
  const k = (hasSenderKey ? 1 : 0) + (isSenderKeyOnly ? 2 : 0);
  return { s: stanza, e: enc, i: index, n: count, p: plaintext.toString("base64"), k };
}

export function fromStoredEntry({ id, body }: StoredJournalEntry): JournalEntry {
  const { s, e, i, n, p, k } = JSON.parse(body) as Body;
  const plaintext = Buffer.from(p, "base64");
  return {
    ...{ id, stanza: s, enc: e, index: i, count: n, plaintext },
    hasSenderKey: (k & 1) === 1,
    isSenderKeyOnly: (k & 2) === 2,
  };
}

/** Where a ciphertext stands in its stanza. */
export interface CiphertextPosition {
  stanza: Record<string, string>;
  index: number;
  count: number;
  enc: EncNode;
}

export function toJournalEntry(
  { stanza, index, count, enc }: CiphertextPosition,
  plaintext: Uint8Array,
): JournalEntry {
  const message = readMessage(plaintext);
  const named = Object.keys(message).filter((name) => name !== "messageContextInfo");
  const hasSenderKey = message.senderKeyDistributionMessage != null;
  return {
    id: journalEntryId(enc.content),
    ...{ stanza, index, count, enc: enc.attrs, hasSenderKey },
    plaintext: Buffer.from(plaintext),
    isSenderKeyOnly: hasSenderKey && named.length === 1,
  };
}

/** The message of a padded plaintext; empty when it cannot be read. */
export function readMessage(plaintext: Uint8Array): proto.IMessage {
  try {
    const message = proto.Message.decode(unpadRandomMax16(plaintext));
    return message.deviceSentMessage?.message ?? message;
  } catch {
    return {};
  }
}

/** What our own phone tells of the time before the pairing, as far as the client library makes an event of it. */
export function isHistorySync({ plaintext }: JournalEntry): boolean {
  const told = readMessage(plaintext).protocolMessage?.historySyncNotification;
  if (!told || !PROCESSABLE_HISTORY_TYPES.some((type) => Number(type) === told.syncType)) return false;
  return DEFAULT_CONNECTION_CONFIG.shouldSyncHistoryMessage(told);
}
