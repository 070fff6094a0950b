import { expect, test } from "vitest";
import { webpSticker } from "../../../test/media-samples.ts";
import { blackPng, SAMPLE } from "../../../test/sample-files.ts";
import { readPicture } from "./read-picture.ts";

test.each([
  ["still", 1, false],
  ["animated", 2, true],
  // All frames together have more pixels than a picture may have.
  ["long", 200, true],
])("a sticker that is %s has a size and says whether it moves", async (_, frames, is_animated) => {
  expect(await readPicture(await webpSticker(frames))).toEqual({ width: 512, height: 512, is_animated });
});

test("what is no picture, half of one or too large has no size", async () => {
  const sticker = await webpSticker(2);
  for (const bytes of [
    Buffer.alloc(64),
    Buffer.alloc(0),
    SAMPLE.webp,
    sticker.subarray(0, 29),
    blackPng(20_000),
  ])
    expect(await readPicture(bytes)).toBeUndefined();
});
