import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";

/** Replaces a picture and returns the new id, null for no picture. The id cannot be guessed. */
export async function replacePicture(
  client: PoolClient,
  before: string | null,
  bytes: Uint8Array | null,
): Promise<string | null> {
  if (before !== null) await client.query("delete from sandbox.picture where id = $1", [before]);
  if (bytes === null) return null;
  const id = randomBytes(16).toString("hex");
  await client.query("insert into sandbox.picture (id, bytes) values ($1, $2)", [id, Buffer.from(bytes)]);
  return id;
}

export async function findPicture(pool: Pool, id: string): Promise<Uint8Array | undefined> {
  const { rows } = await pool.query<{ bytes: Buffer }>("select bytes from sandbox.picture where id = $1", [
    id,
  ]);
  return rows[0]?.bytes;
}
