import type { Readable } from "node:stream";

/** Part of a file, first and last byte included. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A file on its way into the store; nothing of it is seen before `keep`. */
export interface StoredFileWriter {
  /** Length so far. */
  readonly size: number;
  /** Throws STORAGE_FULL when there is no room. */
  write(piece: Uint8Array): Promise<void>;
  /** Resolves with the hex SHA-256 of what was written. */
  end(): Promise<string>;
  /** Resolves once the file is durable under this name. Throws STORAGE_FULL when there is no room. */
  keep(name: string): Promise<void>;
  /** Leaves nothing behind, unless it is kept. */
  drop(): Promise<void>;
}

/** Where files are kept. */
export interface MediaStore {
  /** For people. */
  readonly words: string;
  /** Every node reaches the same files. */
  readonly isShared: boolean;
  /** The last file found no room. */
  readonly isFull: boolean;
  begin(): Promise<StoredFileWriter>;
  /** Undefined for a file that is not there. */
  open(name: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Also of what is not there. */
  remove(name: string): Promise<void>;
}

/** The name of a file in the store: below two levels, and never the same again for the same content. */
export function createStoreName(sha256: string, suffix: string): string {
  return `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}-${suffix}`;
}
