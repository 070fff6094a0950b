/** Reads this many bytes at a file position; fewer at the end. */
export type RandomAccessRead = (position: number, length: number) => Promise<Buffer>;

/** What phones display of a video before they download it. */
export interface VideoMetadata {
  width?: number;
  height?: number;
  seconds?: number;
}

/** Most boxes to read, on all levels; a real file has a few dozen. */
const MAX_BOXES = 256;
const MAX_SIDE = 32_768;
const MAX_SECONDS = 24 * 60 * 60;
const FIXED_POINT = 65_536;

interface Box {
  type: string;
  start: number;
  end: number;
}

/**
 * Reads the duration and size of an MP4 or QuickTime file from its box headers. Whatever the file contains,
 * it reads at most 256 boxes and a few bytes of each. Own code, since readers such as music-metadata load whole tables of
 * the file, and do not tell the size of the picture.
 */
export async function readMp4Metadata(readAt: RandomAccessRead, size: number): Promise<VideoMetadata> {
  const walk = new BoxWalk(readAt);
  const facts: VideoMetadata = {};
  const moov = await walk.find({ type: "", start: 0, end: size }, "moov");
  if (!moov) return facts;
  for await (const box of walk.children(moov)) {
    if (box.type === "mvhd") Object.assign(facts, readLength(await walk.body(box, 32)));
    if (box.type !== "trak" || facts.width !== undefined) continue;
    const head = await walk.find(box, "tkhd");
    if (head) Object.assign(facts, readSize(await walk.body(head, 96)));
  }
  return facts;
}

class BoxWalk {
  readonly #readAt: RandomAccessRead;
  #left = MAX_BOXES;

  constructor(readAt: RandomAccessRead) {
    this.#readAt = readAt;
  }

  async find(parent: Box, type: string): Promise<Box | undefined> {
    for await (const box of this.children(parent)) if (box.type === type) return box;
    return undefined;
  }

  /** Stops at the first box that exceeds its parent. */
  async *children({ start, end }: Box): AsyncGenerator<Box> {
    for (let at = start; at + 8 <= end && this.#left > 0; ) {
      this.#left -= 1;
      const head = await this.#readAt(at, 16);
      const box = readBox(head, at, end);
      if (!box) return;
      yield box;
      at = box.end;
    }
  }

  body({ start, end }: Box, most: number): Promise<Buffer> {
    return this.#readAt(start, Math.min(most, end - start));
  }
}

function readBox(head: Buffer, at: number, end: number): Box | undefined {
  if (head.length < 8) return undefined;
  const type = head.toString("latin1", 4, 8);
  const short = head.readUInt32BE(0);
  if (short === 1 && head.length < 16) return undefined;
  const isLong = short === 1;
  // Zero means: to the end of the file.
  const length = isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? end - at : short;
  const headLength = isLong ? 16 : 8;
  const isInside = length >= headLength && at + length <= end;
  return isInside ? { type, start: at + headLength, end: at + length } : undefined;
}

/** Reads an mvhd box, whose times are longer in version 1. */
function readLength(body: Buffer): VideoMetadata {
  const isLong = body[0] === 1;
  if (body.length < (isLong ? 32 : 20)) return {};
  const scale = body.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(body.readBigUInt64BE(24)) : body.readUInt32BE(16);
  const seconds = duration / scale;
  return seconds > 0 && seconds <= MAX_SECONDS ? { seconds: Math.max(1, Math.round(seconds)) } : {};
}

/** Reads a tkhd box. A rotation by 90 degrees swaps width and height. An audio track has no size. */
function readSize(body: Buffer): VideoMetadata {
  const matrixAt = body[0] === 1 ? 52 : 40;
  if (body.length < matrixAt + 44) return {};
  const width = Math.round(body.readUInt32BE(matrixAt + 36) / FIXED_POINT);
  const height = Math.round(body.readUInt32BE(matrixAt + 40) / FIXED_POINT);
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE) return {};
  const isTurned = body.readInt32BE(matrixAt) === 0 && body.readInt32BE(matrixAt + 4) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
}
