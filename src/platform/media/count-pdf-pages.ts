import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { inflate } from "node:zlib";

/** Scanned without a pause. */
const SLICE_BYTES = 256 * 1024;
const OBJECT_END = "endobj";
const MAX_DEPTH = 64;
const OBJECT_STREAM = "/ObjStm";
/** Of one object stream, and of all together. */
const MAX_STREAM_BYTES = 4 * 1024 * 1024;
const MAX_INFLATED_BYTES = 32 * 1024 * 1024;
const MAX_HEADER_BYTES = 1_024;
const MAX_PAGES = 1_000_000;

/**
 * The number of pages of a PDF; undefined if the file does not state it, such as an encrypted one. Each node of the page
 * tree states the number of its pages, so the highest number is that of the document. Reads only these numbers, in
 * linear time and with limits, since every sender can make such a file.
 */
export async function countPdfPages(bytes: Buffer): Promise<number | undefined> {
  if (bytes.subarray(0, MAX_HEADER_BYTES).indexOf("%PDF-") < 0) return undefined;
  let pages = 0;
  for (const slice of slicesOf(bytes)) {
    pages = Math.max(pages, highestCountIn(slice.toString("latin1")));
    await nextTurn();
  }
  for await (const objects of objectStreamsOf(bytes)) {
    pages = Math.max(pages, highestCountIn(objects.toString("latin1")));
  }
  return pages > 0 && pages <= MAX_PAGES ? pages : undefined;
}

/** Slices that do not cut an object, unless the object is longer than a slice. */
function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(OBJECT_END, at + SLICE_BYTES);
    const next = end < 0 || end > at + 2 * SLICE_BYTES ? at + SLICE_BYTES : end;
    yield bytes.subarray(at, next);
    at = next;
  }
}

const TOKENS = /<<|>>|\bendobj\b|\/Type\s{0,9}\/Pages\b|\/Count\s{1,9}(\d{1,9})\b/g;

interface Dictionary {
  isPages: boolean;
  count: number;
}

/** The highest `Count` of a dictionary whose type is `Pages`. */
function highestCountIn(text: string): number {
  let highest = 0;
  let open: Dictionary[] = [];
  for (const [token, count] of text.matchAll(TOKENS)) {
    // The bytes of a picture can look like the begin of many dictionaries.
    if (token === OBJECT_END || open.length > MAX_DEPTH) open = [];
    const current = open.at(-1);
    if (token === "<<") open.push({ isPages: false, count: 0 });
    else if (token === ">>") highest = Math.max(highest, pagesOf(open.pop()));
    else if (current && count !== undefined) current.count = Number(count);
    else if (current) current.isPages = true;
  }
  return highest;
}

function pagesOf(dictionary: Dictionary | undefined): number {
  return dictionary?.isPages ? dictionary.count : 0;
}

const inflateBounded = promisify(inflate) as (
  bytes: Buffer,
  options: { maxOutputLength: number },
) => Promise<Buffer>;

const LIMIT = { maxOutputLength: MAX_STREAM_BYTES };

/** The objects that are compressed together. One that cannot be read counts as a large one. */
async function* objectStreamsOf(bytes: Buffer): AsyncGenerator<Buffer> {
  let left = MAX_INFLATED_BYTES;
  for (let at = bytes.indexOf(OBJECT_STREAM); at >= 0 && left > 0; at = bytes.indexOf(OBJECT_STREAM, at)) {
    const header = bytes.subarray(at, at + MAX_HEADER_BYTES);
    const [start] = header.toString("latin1").match(/stream\r?\n/) ?? [];
    const begin = start === undefined ? -1 : at + header.indexOf(start) + start.length;
    const end = begin < 0 ? at + OBJECT_STREAM.length : bytes.indexOf("endstream", begin);
    if (end < 0) return;
    at = end;
    if (begin < 0) continue;
    const objects = await inflateBounded(bytes.subarray(begin, end), LIMIT).catch(() => undefined);
    left -= objects?.length ?? MAX_STREAM_BYTES;
    if (objects) yield objects;
  }
}
