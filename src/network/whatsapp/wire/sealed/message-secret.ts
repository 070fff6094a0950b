import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { proto } from "baileys";
import type { Identity, Jid, MessageId } from "../../../driver.ts";
import { phoneJid } from "../../../jid.ts";

export const SECRET_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The secret that came with a message, in base64; undefined if it has none, or one of another length. */
export function secretIn(message: proto.IMessage | null | undefined): string | undefined {
  return toSecret(message?.messageContextInfo?.messageSecret);
}

export function toSecret(bytes: Uint8Array | null | undefined): string | undefined {
  return bytes?.length === SECRET_BYTES ? Buffer.from(bytes).toString("base64") : undefined;
}

/** The secret of a message of this device: the same at every attempt and resend, without being stored first. */
export function ownMessageSecret(
  creds: { signedIdentityKey: { private: Uint8Array } },
  id: MessageId,
): Buffer {
  const key = creds.signedIdentityKey.private;
  return Buffer.from(hkdfSync("sha256", key, "", `waygate message secret ${id}`, SECRET_BYTES));
}

/** What is encrypted under the secret of a message; the names are part of the keys. */
export type SecretUse =
  | "Message Edit"
  | "Event Edit"
  | "Poll Edit"
  | "Poll Add Option"
  | "Poll Vote"
  | "Enc Reaction"
  | "Enc Comment";

export interface EncryptedChange {
  uses: readonly SecretUse[];
  payload: Uint8Array;
  iv: Uint8Array;
}

/** The message whose secret is used, and the addresses under which its writer and the sender of the change are known. */
export interface SecretContext {
  id: string;
  /** In base64. */
  secret: string;
  authors: readonly string[];
  senders: readonly string[];
}

/**
 * Decrypts a change; undefined if no pair of the addresses fits. The key is
 * HKDF-SHA256(secret, no salt, id + author + sender + use), the cipher AES-256-GCM, for a vote with additional data:
 * whatsmeow `msgsecret.go`, https://github.com/vinikjkkj/zapo/issues/159.
 */
export function decryptChange(
  { uses, payload, iv }: EncryptedChange,
  context: SecretContext,
): Buffer | undefined {
  const secret = Buffer.from(context.secret, "base64");
  if (secret.length !== SECRET_BYTES || iv.length !== IV_BYTES || payload.length < TAG_BYTES)
    return undefined;
  for (const use of uses) {
    for (const author of context.authors) {
      for (const sender of context.senders) {
        const key = keyOf(secret, context.id + author + sender + use);
        const plaintext = decrypt(key, iv, payload, additionalDataOf(use, context.id, sender));
        if (plaintext) return plaintext;
      }
    }
  }
  return undefined;
}

function additionalDataOf(use: SecretUse, id: string, sender: string): string | undefined {
  return use === "Poll Vote" ? `${id}\0${sender}` : undefined;
}

/** Encrypts a change of ours, as `decryptChange` reads it. `secret` is in base64. */
export function encryptChange(
  use: SecretUse,
  plaintext: Uint8Array,
  { id, secret, author, sender }: { id: string; secret: string; author: Jid; sender: Jid },
): { encPayload: Buffer; encIv: Buffer } {
  const encIv = randomBytes(IV_BYTES);
  const key = keyOf(Buffer.from(secret, "base64"), id + author + sender + use);
  const cipher = createCipheriv("aes-256-gcm", key, encIv, { authTagLength: TAG_BYTES });
  const encPayload = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return { encPayload, encIv };
}

function keyOf(secret: Uint8Array, info: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", info, SECRET_BYTES));
}

/** The addresses by which the key of a change may name a person; at most three. */
export function addressesOf({ jid, lid, phone }: Identity): string[] {
  return [...new Set([lid, phone === null ? null : phoneJid(phone), jid])].filter((one) => one !== null);
}

function decrypt(
  key: Uint8Array,
  iv: Uint8Array,
  payload: Uint8Array,
  additionalData: string | undefined,
): Buffer | undefined {
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  if (additionalData !== undefined) decipher.setAAD(Buffer.from(additionalData));
  decipher.setAuthTag(payload.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(payload.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
