import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Content } from "../../../network/driver.ts";
import { type Db, isDatabaseFull, type Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { ulid } from "../../../platform/ulid.ts";
import { statementHooks } from "../../statement-hooks.ts";
import type { StoredContent } from "../log/message-view.ts";

const PART_BYTES = 256 * 1024;
const PARTS_AT_ONCE = 16;
/** Longer than a request that uploads a file can last. */
const ORPHAN_AFTER_MS = 3_600_000;

/** The file of a send, stored in parts in the database until the send has an outcome. */
export class OutgoingFile {
  readonly id = `upl_${ulid()}`;
  /** Bytes received so far. */
  size = 0;
  /** The first part, which is used to detect the file type. */
  head: Buffer = Buffer.alloc(0);
  /** The account whose storage the file uses. */
  readonly account_id: number;
  readonly #db: Db;
  readonly #hash = createHash("sha256");
  #remainder: Buffer = Buffer.alloc(0);
  #parts = 0;

  constructor(db: Db, account_id: number) {
    this.#db = db;
    this.account_id = account_id;
  }

  /** Writes the next chunk, of any length. */
  async write(piece: Buffer): Promise<void> {
    for (let start = 0; start < piece.length; start += PART_BYTES) {
      await this.#append(piece.subarray(start, start + PART_BYTES));
    }
  }

  /** Stores the remaining bytes and resolves with the hex SHA-256. */
  async end(): Promise<string> {
    if (this.#remainder.length > 0) await this.#store(this.#remainder);
    return this.#hash.digest("hex");
  }

  async discard(): Promise<void> {
    if (this.#parts > 0) await deleteOutgoing(this.#db, [this.id]);
  }

  async #append(piece: Buffer): Promise<void> {
    this.size += piece.length;
    this.#hash.update(piece);
    const waiting = this.#remainder.length === 0 ? piece : Buffer.concat([this.#remainder, piece]);
    if (waiting.length >= PART_BYTES) await this.#store(waiting.subarray(0, PART_BYTES));
    this.#remainder = waiting.length >= PART_BYTES ? waiting.subarray(PART_BYTES) : waiting;
  }

  async #store(bytes: Buffer): Promise<void> {
    if (this.#parts === 0) this.head = bytes;
    await this.#db
      .insertInto("outgoing_media")
      .values({ id: this.id, account_id: this.account_id, part: this.#parts++, bytes })
      .execute()
      .catch(refuseWhenFull);
  }
}

function refuseWhenFull(cause: unknown): never {
  if (!isDatabaseFull(cause)) throw cause;
  const sentence =
    "The gateway's storage is full, so the file was not stored. Its operator has to free disk space.";
  throw new GatewayError("STORAGE_FULL", sentence, { cause, retryAfterSeconds: 60 });
}

/** The whole file of `size` bytes; undefined if its send has an outcome meanwhile. */
async function loadOutgoing(db: Db, id: string, size: number): Promise<Buffer | undefined> {
  const file = Buffer.allocUnsafe(size);
  let filled = 0;
  for (let part = 0; filled < size; part += PARTS_AT_ONCE) {
    const parts = await db
      .selectFrom("outgoing_media")
      .select("bytes")
      .where("id", "=", id)
      .where("part", ">=", part)
      .where("part", "<", part + PARTS_AT_ONCE)
      .orderBy("part")
      .execute();
    if (parts.length === 0) return undefined;
    for (const { bytes } of parts) filled += bytes.copy(file, filled);
  }
  return file;
}

/** Reads bytes of a file from a position, fewer at its end; for chunks much smaller than a part. */
export async function readOutgoingRange(
  db: Db,
  id: string,
  position: number,
  length: number,
): Promise<Buffer> {
  const first = Math.floor(position / PART_BYTES);
  const { rows } = await sql<{ piece: Buffer }>`
    select case when part = ${first}
        then substring(bytes from ${position - first * PART_BYTES + 1}::int for ${length}::int)
        else substring(bytes from 1 for ${length}::int) end as piece
    from outgoing_media where id = ${id} and part in (${first}::int, ${first + 1}::int) order by part`.execute(
    db,
  );
  return Buffer.concat(rows.map(({ piece }) => piece)).subarray(0, length);
}

export async function deleteOutgoing(db: Db | Trx, ids: string[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom("outgoing_media").where("id", "in", ids).execute();
}

/** Protects a campaign's file from deletion as an orphan while the campaign runs. False: the file is gone. */
export async function touchOutgoing(trx: Trx, id: string): Promise<boolean> {
  const parts = await trx
    .updateTable("outgoing_media")
    .set({ created_at: sql<Date>`now()` })
    .where("id", "=", id)
    .returning("part")
    .execute();
  return parts.length > 0;
}

/** Deletes files of requests that died before their send was accepted, and files that nothing needs any longer. */
export async function deleteOrphanedOutgoing(db: Db): Promise<void> {
  await sql`
    delete from outgoing_media o where created_at < now() - ${ORPHAN_AFTER_MS} * interval '1 millisecond'
      and not exists (select from message m where m.status = 'pending' and m.content ->> 'upload' = o.id)
      and not exists (select from message m where m.status = 'scheduled' and m.content ->> 'upload' = o.id)
      and not exists (select from media f where f.upload = o.id)
      ${sql.join(
        statementHooks().fileUses.map((isUsed) => sql`and not ${isUsed(sql`o.id`)}`),
        sql` `,
      )}`.execute(db);
}

/** The content for the driver: that of the row, with the pending file. */
export async function loadOutgoingContent(db: Db, content: StoredContent): Promise<Content | undefined> {
  if (content.kind !== "media") return content;
  const { upload, shared, ...described } = content;
  const file = upload ?? shared;
  if (file === undefined) return described;
  const bytes = await loadOutgoing(db, file, content.size);
  return bytes && { ...described, bytes };
}
