import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** The first byte: a value that opens only in one column of one row. */
const FORMAT = 1;
const KEY_ID_BYTES = 4;
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const BODY_AT = HEADER_BYTES + SALT_BYTES + IV_BYTES + TAG_BYTES;

/** The column and row of a sealed value. */
export interface EncryptionContext {
  table: string;
  column: string;
  /** The primary key of the row, in the order of its columns. */
  key: readonly (string | number)[];
}

/** Seals texts for the database with AES-256-GCM; the output names its format and key. */
export interface SecretBox {
  /** Identifies the sealing key without revealing it: 8 hex digits, equal on every node with the same key. */
  readonly key_id: string;
  /** The first bytes of every value that this box seals: format and key. */
  readonly header: Buffer;
  seal(text: string, context: EncryptionContext): Buffer;
  /** Throws if the bytes were changed, truncated, sealed for another context, or sealed with an unknown key. */
  open(sealed: Buffer, context: EncryptionContext): string;
}

/** The context of a column of a row. */
export function encryptionContextOf(
  table: string,
  column: string,
  ...key: (string | number)[]
): EncryptionContext {
  return { table, column, key };
}

/** Seals with `secretKey`; opens values sealed with that key or with `second`. */
export function createSecretBox(secretKey: string, second?: string): SecretBox {
  const own = toKey(secretKey);
  const keys = second === undefined ? [own] : [own, toKey(second)];
  const header = Buffer.concat([Buffer.of(FORMAT), own.id]);

  return {
    key_id: own.id.toString("hex"),
    header,
    seal(text, context) {
      const salt = randomBytes(SALT_BYTES);
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", textKey(own.key, salt), iv);
      cipher.setAAD(Buffer.concat([header, toBytes(context)]));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([header, salt, iv, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      if (sealed.length < BODY_AT || sealed[0] !== FORMAT)
        throw new Error(`${wordsOf(context)} is not an encrypted value.`);
      const sealer = keys.find(({ id }) => sealed.subarray(1, HEADER_BYTES).equals(id));
      if (!sealer) throw new Error(`${wordsOf(context)} is encrypted with another WAYGATE_SECRET_KEY.`);
      return decrypt(sealer.key, sealed, context);
    },
  };
}

function toKey(secretKey: string): { key: Buffer; id: Buffer } {
  return {
    key: derive(secretKey, "waygate secret box 1", 32),
    id: derive(secretKey, "waygate key id 1", KEY_ID_BYTES),
  };
}

/** Equal bytes for a number and its digits, but different bytes for different contexts. */
function toBytes({ table, column, key }: EncryptionContext): Buffer {
  return Buffer.from(JSON.stringify([table, column, ...key.map(String)]));
}

/**
 * Only the first part of a key may be shown: it is a row id or a fixed name, the others may be personal data.
 */
function wordsOf({ table, column, key: [first = ""] }: EncryptionContext): string {
  return `The stored secret ${table}.${column} of ${first}`;
}

function decrypt(key: Buffer, sealed: Buffer, context: EncryptionContext): string {
  const header = sealed.subarray(0, HEADER_BYTES);
  const salt = sealed.subarray(HEADER_BYTES, HEADER_BYTES + SALT_BYTES);
  const iv = sealed.subarray(HEADER_BYTES + SALT_BYTES, BODY_AT - TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", textKey(key, salt), iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.concat([header, toBytes(context)]));
  decipher.setAuthTag(sealed.subarray(BODY_AT - TAG_BYTES, BODY_AT));
  try {
    return decipher.update(sealed.subarray(BODY_AT), undefined, "utf8") + decipher.final("utf8");
  } catch (cause) {
    throw new Error(`${wordsOf(context)} was changed, or was encrypted for another row or column.`, {
      cause,
    });
  }
}

// A key per text: random GCM nonces are safe for 2^32 texts per key, and every message seals Signal session
// state.
function textKey(key: Buffer, salt: Buffer): Buffer {
  return createHmac("sha256", key).update(salt).digest();
}

function derive(secretKey: string, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "", info, bytes));
}
