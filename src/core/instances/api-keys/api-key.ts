import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "wg_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** A new key: `wg_`, 32 random bytes as 43 characters of base62, and a CRC32 as 6 more. */
export function createApiKey(): string {
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`);
  const body = PREFIX + base62(random, RANDOM_LENGTH);
  return body + checksum(body);
}

/** Whether a text has the form of a key; detects a typing error without a database query. */
export function isApiKey(text: string): boolean {
  if (text.length !== PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH) return false;
  const isSummed = checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
  return isSummed && text.startsWith(PREFIX);
}

/** The digest that the database stores of a key. */
export function digestApiKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** How a key is displayed after its creation. */
export function maskApiKey(last4: string): string {
  return `${PREFIX}****${last4}`;
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
