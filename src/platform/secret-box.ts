import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

const VERSION = 1;
const KEY_ID_BYTES = 4;
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const BODY_AT = HEADER_BYTES + SALT_BYTES + IV_BYTES + TAG_BYTES;

/** Seals texts for the database with AES-256-GCM; the bytes name the key that sealed them. */
export interface SecretBox {
  /** Names the key that seals without giving it away: 8 hex digits, equal on every node that has the same key. */
  readonly key_id: string;
  seal(text: string): Buffer;
  /** Throws when the bytes were changed, cut, or sealed with a key that is not among those of this box. */
  open(sealed: Buffer): string;
}

/** Seals with `secretKey`; opens what that key or the `second` has sealed. */
export function createSecretBox(secretKey: string, second?: string): SecretBox {
  const own = toKey(secretKey);
  const keys = second === undefined ? [own] : [own, toKey(second)];

  return {
    key_id: own.header.subarray(1).toString("hex"),
    seal(text) {
      const salt = randomBytes(SALT_BYTES);
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", textKey(own.key, salt), iv);
      cipher.setAAD(own.header);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([own.header, salt, iv, cipher.getAuthTag(), body]);
    },
    open(sealed) {
      if (sealed.length < BODY_AT || sealed[0] !== VERSION) {
        throw new Error("not a sealed text");
      }
      const sealer = keys.find(({ header }) => sealed.subarray(0, HEADER_BYTES).equals(header));
      if (!sealer) throw new Error("sealed with another WAYGATE_SECRET_KEY");
      return decrypt(sealer.key, sealer.header, sealed);
    },
  };
}

function toKey(secretKey: string): { key: Buffer; header: Buffer } {
  const id = derive(secretKey, "waygate key id 1", KEY_ID_BYTES);
  return {
    key: derive(secretKey, "waygate secret box 1", 32),
    header: Buffer.concat([Buffer.of(VERSION), id]),
  };
}

function decrypt(key: Buffer, header: Buffer, sealed: Buffer): string {
  const salt = sealed.subarray(HEADER_BYTES, HEADER_BYTES + SALT_BYTES);
  const iv = sealed.subarray(HEADER_BYTES + SALT_BYTES, BODY_AT - TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", textKey(key, salt), iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(header);
  decipher.setAuthTag(sealed.subarray(BODY_AT - TAG_BYTES, BODY_AT));
  try {
    return decipher.update(sealed.subarray(BODY_AT), undefined, "utf8") + decipher.final("utf8");
  } catch (cause) {
    throw new Error("the sealed text was changed", { cause });
  }
}

// A key per text: random GCM nonces under one key are safe for 2^32 texts only, and ratchets are sealed at every message.
function textKey(key: Buffer, salt: Buffer): Buffer {
  return createHmac("sha256", key).update(salt).digest();
}

function derive(secretKey: string, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "", info, bytes));
}
