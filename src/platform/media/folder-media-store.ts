import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { makeDirectory } from "../files/make-directory.ts";
import { GatewayError } from "../gateway-error.ts";
import type { ByteRange, MediaStore, StoredFileWriter } from "./media-store.ts";
import { emptyDirectory, TemporaryFile, throwStorageFull } from "./temporary-file.ts";

const NAME = /^[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}-[0-9a-f]{1,32}$/;

export interface FolderMediaStoreOptions {
  node: string;
  isShared: boolean;
}

/** Files in one folder (directories 0700, files 0600). */
export class FolderMediaStore implements MediaStore {
  readonly description: string;
  readonly isShared: boolean;
  readonly #root: string;
  /** On the same volume, so that a file moves to its final place atomically. */
  readonly #incoming: string;
  #isFull = false;

  private constructor(root: string, { node, isShared }: FolderMediaStoreOptions) {
    this.description = isShared ? `the shared folder ${root}` : `the folder ${root}`;
    this.isShared = isShared;
    this.#root = root;
    this.#incoming = join(root, "arriving", node);
  }

  static async open(root: string, options: FolderMediaStoreOptions): Promise<FolderMediaStore> {
    const store = new FolderMediaStore(root, options);
    await emptyDirectory(store.#incoming).catch((cause: NodeJS.ErrnoException) => {
      throw new Error(`The media folder ${root} cannot be used (${cause.code}).`, { cause });
    });
    return store;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  async begin(): Promise<StoredFileWriter> {
    const file = await this.#noting(TemporaryFile.begin(this.#incoming));
    return {
      get size() {
        return file.size;
      },
      write: (piece) => this.#noting(file.write(piece)),
      end: () => this.#noting(file.end({ isDurable: true })),
      commit: (name) => this.#noting(this.#moveIntoStore(file.path, name)),
      discard: () => file.discard(),
    };
  }

  async open(name: string, range?: ByteRange): Promise<Readable | undefined> {
    const path = this.#pathOf(name);
    const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return undefined;
    });
    return file && createReadStream(path, { ...range, fd: file });
  }

  async remove(name: string): Promise<void> {
    await rm(this.#pathOf(name), { force: true });
  }

  async #moveIntoStore(from: string, name: string): Promise<void> {
    const path = this.#pathOf(name);
    const directory = dirname(path);
    try {
      await makeDirectory(directory);
      await rename(from, path);
      for (const parent of [directory, dirname(directory)]) await syncDirectory(parent);
    } catch (error) {
      throwStorageFull(error);
    }
  }

  #pathOf(name: string): string {
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a stored file`);
    return join(this.#root, name);
  }

  async #noting<T>(work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      this.#isFull = false;
      return done;
    } catch (error) {
      if (error instanceof GatewayError && error.code === "STORAGE_FULL") this.#isFull = true;
      throw error;
    }
  }
}

/** A new name is durable only after its directory is synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
