export interface WebpMetadata {
  width: number;
  height: number;
  is_animated: boolean;
}

const ANIMATION = 0x02;
const [WIDTH_BITS, SIDE_MASK] = [14, 0x3fff];

/** Size of a WebP image, and whether it is animated, from its first 30 bytes; undefined if it is not WebP. */
export function readWebpMetadata(head: Buffer): WebpMetadata | undefined {
  const isWebp = head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP";
  if (!isWebp || head.length < 30) return undefined;
  switch (head.toString("latin1", 12, 16)) {
    case "VP8X":
      return {
        width: head.readUIntLE(24, 3) + 1,
        height: head.readUIntLE(27, 3) + 1,
        is_animated: (head.readUInt8(20) & ANIMATION) !== 0,
      };
    case "VP8L": {
      const sides = head.readUInt32LE(21);
      const [width, height] = [(sides & SIDE_MASK) + 1, ((sides >>> WIDTH_BITS) & SIDE_MASK) + 1];
      return { width, height, is_animated: false };
    }
    case "VP8 ":
      return {
        width: head.readUInt16LE(26) & SIDE_MASK,
        height: head.readUInt16LE(28) & SIDE_MASK,
        is_animated: false,
      };
    default:
      return undefined;
  }
}
