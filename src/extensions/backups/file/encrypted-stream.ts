import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const MAGIC = Buffer.from("WAYGATE BACKUP 1\n");
const KEY_ID_BYTES = 4;
const SALT_BYTES = 32;
const HEADER_BYTES = MAGIC.length + KEY_ID_BYTES + SALT_BYTES;
const PIECE_BYTES = 256 * 1024;
const TAG_BYTES = 16;
const SEALED_BYTES = PIECE_BYTES + TAG_BYTES;

/** Tells the operator why a backup file cannot be used. */
export class BackupFileError extends Error {
  override readonly name = "BackupFileError";
}

/** Identifies a backup key without revealing it: 8 hexadecimal digits. */
export function backupKeyId(backupKey: string): string {
  return derive(backupKey, "", "waygate backup key id 1", KEY_ID_BYTES).toString("hex");
}

/**
 * Encrypts a stream in pieces. The nonce holds the piece's number and whether it is the last, so decryption
 * detects a changed, moved, missing or truncated piece.
 */
export async function* encryptStream(
  plain: AsyncIterable<Uint8Array>,
  backupKey: string,
): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES);
  const header = Buffer.concat([MAGIC, Buffer.from(backupKeyId(backupKey), "hex"), salt]);
  const key = derive(backupKey, salt, "waygate backup 1", 32);
  yield header;
  let number = 0;
  for await (const { piece, isLast } of inPieces(plain, PIECE_BYTES)) {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(number, isLast));
    cipher.setAAD(header);
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    number += 1;
  }
}

/** Decrypts a stream. Throws BackupFileError at the first invalid piece. */
export async function* decryptStream(
  sealed: AsyncIterable<Uint8Array>,
  backupKey: string,
): AsyncGenerator<Buffer> {
  let opener: { header: Buffer; key: Buffer } | undefined;
  let number = 0;
  for await (const { piece, isLast } of inPieces(sealed, SEALED_BYTES, HEADER_BYTES)) {
    if (!opener) {
      opener = readHeader(piece, backupKey);
      if (isLast)
        throw new BackupFileError("The backup file is incomplete. Copy it again, or use another backup.");
      continue;
    }
    yield openPiece(opener, piece, number, isLast);
    number += 1;
  }
}

function readHeader(header: Buffer, backupKey: string): { header: Buffer; key: Buffer } {
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new BackupFileError("This file is not a Waygate backup, or a newer version of Waygate made it.");
  }
  if (header.length < HEADER_BYTES)
    throw new BackupFileError("The backup file is incomplete. Copy it again, or use another backup.");
  const id = header.subarray(MAGIC.length, MAGIC.length + KEY_ID_BYTES).toString("hex");
  if (id !== backupKeyId(backupKey)) {
    throw new BackupFileError(
      `The backup was made with another backup key (${id}). Set WAYGATE_BACKUP_KEY to that key.`,
    );
  }
  const salt = header.subarray(MAGIC.length + KEY_ID_BYTES);
  return { header, key: derive(backupKey, salt, "waygate backup 1", 32) };
}

function openPiece(
  { header, key }: { header: Buffer; key: Buffer },
  piece: Buffer,
  number: number,
  isLast: boolean,
): Buffer {
  if (piece.length < TAG_BYTES)
    throw new BackupFileError("The backup file is incomplete. Copy it again, or use another backup.");
  const body = piece.subarray(0, piece.length - TAG_BYTES);
  const nonce = nonceOf(number, isLast);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(header);
  decipher.setAuthTag(piece.subarray(piece.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch (cause) {
    throw new BackupFileError(
      "The backup file was altered or is incomplete. Copy it again, or use another backup.",
      { cause },
    );
  }
}

/** Cuts a stream into pieces of `size` bytes, the first of `first` bytes; the last one may be shorter. */
async function* inPieces(
  stream: AsyncIterable<Uint8Array>,
  size: number,
  first = size,
): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  let target = first;
  for await (const bytes of stream) {
    rest = rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([rest, bytes]);
    while (rest.length > target) {
      yield { piece: rest.subarray(0, target), isLast: false };
      rest = rest.subarray(target);
      target = size;
    }
  }
  yield { piece: rest, isLast: true };
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function derive(key: string, salt: string | Buffer, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, info, bytes));
}
