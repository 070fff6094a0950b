import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { LineSplitter } from "../text/line-splitter.ts";

/** Yields the output of `copy ... to stdout`, whole rows in every piece, at the reader's pace. */
export async function* copyOut(client: pg.ClientBase, statement: string): AsyncGenerator<Buffer[]> {
  const stream = client.query(copyTo(statement));
  const lines = new LineSplitter();
  try {
    for await (const piece of stream.iterator({ destroyOnReturn: false })) {
      const rows = lines.add(piece);
      if (rows.length > 0) yield rows;
    }
  } finally {
    // Discards the rest: until then the connection runs no other statement.
    stream.on("error", () => {}).resume();
  }
}

/** Runs `copy ... from stdin` with these pieces. */
export async function copyIn(
  client: pg.ClientBase,
  statement: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  await pipeline(Readable.from(pieces, { highWaterMark: 1 }), client.query(copyFrom(statement)));
}
