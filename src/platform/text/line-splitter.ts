const LINE_END = 10;

/** Cuts pieces of bytes into lines, each with its end. */
export class LineSplitter {
  /** The beginning of a line, in pieces: put together once, however long it becomes. */
  #partial: Buffer[] = [];

  /** The lines that end in this piece. */
  add(piece: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let from = 0;
    for (let at = piece.indexOf(LINE_END); at !== -1; at = piece.indexOf(LINE_END, from)) {
      const end = piece.subarray(from, at + 1);
      lines.push(this.#partial.length === 0 ? end : Buffer.concat([...this.#partial.splice(0), end]));
      from = at + 1;
    }
    if (from < piece.length) this.#partial.push(piece.subarray(from));
    return lines;
  }
}
