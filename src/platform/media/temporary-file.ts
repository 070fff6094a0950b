import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { makeDirectory } from "../files/make-directory.ts";
import { GatewayError } from "../gateway-error.ts";

const NO_SPACE = new Set(["ENOSPC", "EDQUOT"]);

/** A temporary file (0600) that is deleted after use. */
export class TemporaryFile {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  #size = 0;
  #isClosed = false;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** Throws STORAGE_FULL if the disk is full. */
  static async begin(directory: string): Promise<TemporaryFile> {
    const path = join(directory, randomBytes(12).toString("hex"));
    return new TemporaryFile(path, await open(path, "wx", 0o600).catch((error) => throwStorageFull(error)));
  }

  get size(): number {
    return this.#size;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#hash.update(piece);
    this.#size += piece.byteLength;
    for (let at = 0; at < piece.byteLength; ) {
      const { bytesWritten } = await this.#file.write(piece, at).catch((error) => throwStorageFull(error));
      at += bytesWritten;
    }
  }

  /**
   * Resolves with the hex SHA-256 once all data is written; only with `isDurable` is it also synced to disk.
   */
  async end({ isDurable }: { isDurable: boolean }): Promise<string> {
    if (isDurable) await this.#file.sync().catch((error) => throwStorageFull(error));
    await this.#close();
    return this.#hash.digest("hex");
  }

  read(): Readable {
    return createReadStream(this.path);
  }

  async discard(): Promise<void> {
    await this.#close().catch(() => {});
    await rm(this.path, { force: true });
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#file.close();
  }
}

/** Empties a directory that only this process uses, and creates it (0700) if missing. */
export async function emptyDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await makeDirectory(path);
}

/** Rethrows an error; a full disk becomes STORAGE_FULL. */
export function throwStorageFull(cause: unknown): never {
  if (!isDiskFull(cause)) throw cause;
  throw new GatewayError(
    "STORAGE_FULL",
    "The gateway's storage is full, so the file was not stored. Its operator has to free disk space.",
    {
      cause,
      retryAfterSeconds: 60,
    },
  );
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && NO_SPACE.has(String(error.code));
}
