import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { createStoreName, type MediaStore, type StoredFileWriter } from "../../platform/media/media-store.ts";

export interface FileStorageOptions {
  db: Db;
  store: MediaStore;
  /** This node. */
  node: string;
}

export interface StoredMediaFile {
  blob: number;
  sha256: string;
  size: number;
  /** The first bytes, from which the file type is detected. */
  head: Buffer;
}

const HEAD_BYTES = 65_536;

/** Stores files in the media store of this node, the same content once, with the rows that reference them. */
export class FileStorage {
  readonly #db: Db;
  readonly #store: MediaStore;
  /** The node on which this store is found; null: every node. */
  readonly #node: string | null;
  readonly #underway = new Map<string, Promise<number>>();

  constructor({ db, store, node }: FileStorageOptions) {
    this.#db = db;
    this.#store = store;
    this.#node = store.isShared ? null : node;
  }

  /** Stores what `fill` writes; undefined if `fill` returns that the content is unusable. */
  async store(
    fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<boolean>,
  ): Promise<StoredMediaFile | undefined> {
    const draft = await this.#store.begin();
    try {
      let head = Buffer.alloc(0);
      const isWhole = await fill(async (piece) => {
        if (head.length < HEAD_BYTES)
          head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)]);
        await draft.write(piece);
      });
      if (!isWhole) return undefined;
      const sha256 = await draft.end();
      return { blob: await this.#storeOnce(draft, sha256), sha256, size: draft.size, head };
    } finally {
      await draft.discard();
    }
  }

  /** The stored file with this content. Only for a hash that the gateway has computed. */
  async find(sha256: string): Promise<number | undefined> {
    const found = await this.#db
      .selectFrom("blob")
      .select("id")
      .where("sha256", "=", sha256)
      .where("status", "=", "stored")
      .where("node", this.#node === null ? "is" : "=", this.#node)
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    return found?.id;
  }

  async #storeOnce(draft: StoredFileWriter, sha256: string): Promise<number> {
    const same = this.#underway.get(sha256);
    if (same) return same;
    const storing = this.#storeFile(draft, sha256).finally(() => this.#underway.delete(sha256));
    this.#underway.set(sha256, storing);
    return storing;
  }

  /** Writes the row first: after a crash the row leads to the leftover file. */
  async #storeFile(draft: StoredFileWriter, sha256: string): Promise<number> {
    const found = await this.find(sha256);
    if (found !== undefined) return found;
    const name = createStoreName(sha256, randomBytes(4).toString("hex"));
    const { id } = await this.#db
      .insertInto("blob")
      .values({ name, sha256, size: draft.size, node: this.#node })
      .returning("id")
      .executeTakeFirstOrThrow();
    await draft.commit(name);
    await sql`update blob set status = 'stored' where id = ${id} and status = 'uploading'`.execute(this.#db);
    return id;
  }
}
