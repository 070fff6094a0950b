import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { Semaphore } from "../limits/semaphore.ts";
import { openPixels } from "./open-image.ts";

/** A photo of a phone has 12 or 24 million; decoded, each takes about ten bytes. */
const MAX_PIXELS = 25_000_000;
const MAX_MS = 60_000;

/** Pixels of a picture: red, green, blue and opacity, a byte each. */
interface DecodedPicture {
  width: number;
  height: number;
  hasAlpha: boolean;
  data: Uint8Array;
}

/** What the thread runs: as text, so that it is the same in a source tree and in a bundle. */
const DECODER = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { HeifDecoder } = require(workerData.library);
  const images = new HeifDecoder().decode(workerData.bytes);
  const image = images.find((one) => one.is_primary()) ?? images[0];
  const [width, height, hasAlpha] = [image.get_width(), image.get_height(), image.has_alpha_channel()];
  if (width * height > workerData.maxPixels) throw new RangeError("The picture has too many pixels.");
  image.display({ data: new Uint8ClampedArray(width * height * 4), width, height }, (shown) => {
    if (!shown) throw new Error("The picture cannot be decoded.");
    parentPort.postMessage({ width, height, hasAlpha, data: shown.data }, [shown.data.buffer]);
  });
`;

/** One at a time, of the accounts in turn: each takes up to 250 MB. The others wait without their files. */
const memory = new Semaphore({ limit: 1 });

/**
 * Uses the main picture of a HEIC file, upright, as a TIFF file without loss; undefined if it is unreadable, has more than 25
 * million pixels, or takes too long. Reads the file when its turn comes, and decodes it in a thread, since that takes seconds.
 */
export function decodeHeic<T>(
  read: () => Promise<Uint8Array>,
  account_id: number,
  use: (tiff: Buffer | undefined) => Promise<T> | T,
): Promise<T> {
  return memory.use(async () => use(await toTiff(await decodeInThread(await read()))), { key: account_id });
}

async function toTiff(picture: DecodedPicture | undefined): Promise<Buffer | undefined> {
  if (!picture) return undefined;
  const pixels = await openPixels(picture);
  return (picture.hasAlpha ? pixels : pixels.removeAlpha()).tiff({ compression: "none" }).toBuffer();
}

function decodeInThread(bytes: Uint8Array): Promise<DecodedPicture | undefined> {
  const library = createRequire(import.meta.url).resolve("libheif-js/wasm-bundle");
  // The library writes its complaints about a file to the output.
  const worker = new Worker(DECODER, {
    eval: true,
    env: {},
    stdout: true,
    stderr: true,
    workerData: { library, bytes, maxPixels: MAX_PIXELS },
  });
  return new Promise((resolve) => {
    const end = (picture?: DecodedPicture) => {
      clearTimeout(timeout);
      void worker.terminate();
      resolve(picture);
    };
    const timeout = setTimeout(end, MAX_MS);
    worker.once("message", end);
    worker.once("error", () => end());
    worker.once("exit", () => end());
  });
}
