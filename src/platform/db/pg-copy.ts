import type { Duplex } from "node:stream";
import type pg from "pg";

/** The internals of a connection that COPY needs; `pg` has them but does not declare them. */
interface Wire {
  stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(piece: Uint8Array): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

const PILE_BYTES = 1 << 20;

/** Yields the output of `copy ... to stdout`, whole rows in every piece, at the reader's pace. */
export async function* copyOut(client: pg.ClientBase, statement: string): AsyncGenerator<Buffer[]> {
  const query = new CopyOut(statement);
  client.query(query);
  try {
    for (let rows = await query.next(); rows; rows = await query.next()) yield rows;
  } finally {
    query.letGo();
  }
}

/** Runs `copy ... from stdin` with these pieces; returns the number of rows written. */
export async function copyIn(
  client: pg.ClientBase,
  statement: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<number> {
  const query = new CopyIn(statement);
  client.query(query);
  const wire = await query.ready;
  try {
    for await (const piece of pieces) {
      if (query.hasEnded) break;
      wire.sendCopyFromChunk(piece);
      if (wire.stream.writableNeedDrain) await query.drained(wire.stream);
    }
  } catch (error) {
    // Without this the server would wait for the rest forever.
    if (!query.hasEnded) wire.sendCopyFail("the rows could not be read");
    await query.ended.catch(() => {});
    throw error;
  }
  if (!query.hasEnded) wire.endCopyFrom();
  return query.ended;
}

/** The part of a query that both directions share. */
abstract class CopyQuery {
  readonly ended: Promise<number>;
  hasEnded = false;
  protected wire: Wire | undefined;
  protected wakeUp: () => void = () => {};
  readonly #text: string;
  #rows = 0;
  #end: { resolve(rows: number): void; reject(error: Error): void } | undefined;

  constructor(text: string) {
    this.#text = text;
    this.ended = new Promise((resolve, reject) => {
      this.#end = { resolve, reject };
    });
    // The waiting caller gets the failure; without this line, a failure without a caller would end the process.
    this.ended.catch(() => {});
  }

  submit(connection: unknown): void {
    this.wire = connection as Wire;
    this.wire.query(this.#text);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/(?<!\d)\d+$/.exec(text)?.[0] ?? 0);
  }

  handleReadyForQuery(): void {
    this.hasEnded = true;
    this.#end?.resolve(this.#rows);
    this.wakeUp();
  }

  handleError(error: Error): void {
    this.hasEnded = true;
    this.#end?.reject(error);
    this.wakeUp();
  }
}

class CopyOut extends CopyQuery {
  #rows: Buffer[] = [];
  #bytes = 0;
  #isDropped = false;

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#isDropped) return;
    // Copies the bytes: the reader overwrites its buffer.
    this.#rows.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes > PILE_BYTES) this.wire?.stream.pause();
    this.wakeUp();
  }

  /** Undefined after the last row. */
  async next(): Promise<Buffer[] | undefined> {
    while (this.#rows.length === 0 && !this.hasEnded) {
      await new Promise<void>((resolve) => {
        this.wakeUp = resolve;
      });
    }
    if (this.#rows.length === 0) {
      await this.ended;
      return undefined;
    }
    const rows = this.#rows;
    this.#rows = [];
    this.#bytes = 0;
    this.wire?.stream.resume();
    return rows;
  }

  /** Discards all further rows. */
  letGo(): void {
    this.#isDropped = true;
    this.#rows = [];
    this.wire?.stream.resume();
  }
}

class CopyIn extends CopyQuery {
  readonly ready: Promise<Wire>;
  #begin: ((wire: Wire) => void) | undefined;

  constructor(text: string) {
    super(text);
    const begun = new Promise<Wire>((resolve) => {
      this.#begin = resolve;
    });
    this.ready = Promise.race([begun, this.ended.then(() => Promise.reject(new Error("no COPY began")))]);
    this.ready.catch(() => {});
  }

  handleCopyInResponse(wire: Wire): void {
    this.#begin?.(wire);
  }

  /** Resolves when the socket can take more or has closed. */
  async drained(stream: Duplex): Promise<void> {
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
      stream.once("drain", resolve);
    });
  }
}
