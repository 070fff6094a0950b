import type { Readable } from "node:stream";

/** A part of a file; first and last byte are inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Writes a file to the store; the file is invisible before `commit`. */
export interface StoredFileWriter {
  /** Bytes written so far. */
  readonly size: number;
  /** Throws STORAGE_FULL if the disk is full. */
  write(piece: Uint8Array): Promise<void>;
  /** Resolves with the hex SHA-256 of the written bytes. */
  end(): Promise<string>;
  /** Resolves once the file is durable under this name. Throws STORAGE_FULL if the disk is full. */
  commit(name: string): Promise<void>;
  /** Deletes the file unless `commit` has stored it. */
  discard(): Promise<void>;
}

/** Stores media files. */
export interface MediaStore {
  /** A description for the operator. */
  readonly description: string;
  /** Every node reaches the same files. */
  readonly isShared: boolean;
  /** The last write failed because the disk is full. */
  readonly isFull: boolean;
  begin(): Promise<StoredFileWriter>;
  /** Undefined if the file does not exist. */
  open(name: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Succeeds if the file does not exist. */
  remove(name: string): Promise<void>;
}

/** A new store name: below two directory levels, and different every time, even for the same content. */
export function createStoreName(sha256: string, suffix: string): string {
  return `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}-${suffix}`;
}
