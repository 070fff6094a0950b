import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { blackPng } from "../../../test/sample-files.ts";
import { toSquareImage } from "./to-square-image.ts";

function draw(width: number, height: number, background = "#c02020") {
  return sharp({ create: { width, height, channels: 4, background } });
}

const HALF = draw(600, 600)
  .png()
  .toBuffer()
  .then((whole) => whole.subarray(0, 200));

describe("a profile picture", () => {
  test.each(["png", "webp", "gif", "jpeg", "tiff"] as const)(
    "that is %s becomes a JPEG square",
    async (format) => {
      const square = await toSquareImage(await draw(900, 300).toFormat(format).toBuffer(), "image");
      expect(await sharp(square).metadata()).toMatchObject({ format: "jpeg", width: 640, height: 640 });
    },
  );

  test("that is small is enlarged, and its transparent parts become white", async () => {
    const square = await toSquareImage(await draw(3, 2, "#00000000").png().toBuffer(), "image");
    expect(await sharp(square).metadata()).toMatchObject({ width: 640, height: 640, channels: 3 });
    expect((await sharp(square).stats()).channels.map(({ min }) => min)).toEqual([255, 255, 255]);
  });

  test("is turned upright, and contains no location", async () => {
    const lying = await draw(4, 8).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { orientation, exif } = await sharp(await toSquareImage(lying, "image")).metadata();
    expect([orientation, exif]).toEqual([undefined, undefined]);
  });

  test("of 5,000 by 5,000 pixels is accepted", async () => {
    expect(await toSquareImage(blackPng(5_000), "image")).toBeInstanceOf(Buffer);
  });

  test("of 20,000 by 20,000 pixels is refused before it is decoded", async () => {
    await expect(toSquareImage(blackPng(20_000), "image")).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "image", issue: "has more than 50 million pixels" }] },
    });
  });

  test.each<[string, Buffer | Promise<Buffer>]>([
    ["text", Buffer.from("not a picture")],
    ["nothing", Buffer.alloc(0)],
    ["a drawing", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>')],
    ["half of one", HALF],
  ])("that is %s is refused", async (_, bytes) => {
    await expect(toSquareImage(await bytes, "image")).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "image", issue: "is not an image that can be read" }] },
    });
  });
});
