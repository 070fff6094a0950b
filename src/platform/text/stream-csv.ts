import { Readable } from "node:stream";
import { createPause } from "../create-pause.ts";

/** A row can have hundreds of kilobytes. */
const ROWS_AT_ONCE = 50;
const PIECE_CHARACTERS = 65_536;

/**
 * The lines of a CSV file, made when they are read: pieces of about 64 KB, with other work between them. `readRows`
 * returns the rows behind the last one, as many as asked for.
 */
export function streamCsv<Row>(
  readHead: () => Promise<{ head: string; toLine: (row: Row) => string }>,
  readRows: (last: Row | undefined, limit: number) => Promise<Row[]>,
): Readable {
  // Nothing is read ahead of the client.
  return Readable.from(csvPieces(readHead, readRows), { highWaterMark: 0 });
}

async function* csvPieces<Row>(
  ...[readHead, readRows]: Parameters<typeof streamCsv<Row>>
): AsyncGenerator<string> {
  const { head, toLine } = await readHead();
  const pause = createPause();
  let piece = head;
  for (let last: Row | undefined, isWhole = false; !isWhole; ) {
    const rows = await readRows(last, ROWS_AT_ONCE);
    for (const row of rows) {
      piece += toLine(row);
      await pause();
      if (piece.length < PIECE_CHARACTERS) continue;
      yield piece;
      piece = "";
    }
    isWhole = rows.length < ROWS_AT_ONCE;
    last = rows.at(-1);
  }
  if (piece !== "") yield piece;
}
