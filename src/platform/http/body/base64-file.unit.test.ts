import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import { readBase64File } from "./base64-file.ts";

const read = (input: string, maxBytes = 1_048_576) => {
  const { mime_type, pieces } = readBase64File("file", input, maxBytes);
  return { mime_type, text: Buffer.concat([...pieces]).toString("utf8") };
};

describe("a file in base64", () => {
  test.each([
    ["ZG90", { mime_type: undefined, text: "dot" }],
    ["ZG90IQ==", { mime_type: undefined, text: "dot!" }],
    ["ZG\n90\r\n IQ", { mime_type: undefined, text: "dot!" }],
    ["data:image/png;base64,ZG90", { mime_type: "image/png", text: "dot" }],
    ["data:audio/ogg;codecs=opus;base64,ZG90", { mime_type: "audio/ogg", text: "dot" }],
    ["data:;base64,ZG90", { mime_type: "", text: "dot" }],
    ["", { mime_type: undefined, text: "" }],
  ])("%j is read", (input, expected) => expect(read(input)).toEqual(expected));

  test.each(["a*b", "data:image/png,dot", "data:image/png;base64", "ZG90I", "ZG90===", "=ZG90"])(
    "%j is refused",
    (input) => {
      expect(() => read(input)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
    },
  );

  test("that is larger than allowed is refused", () => {
    expect(() => read("ZG90", 2)).toThrow(expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }));
  });

  test.each(["a", ";", "data:", "=", " ", "data:a;", "a="])(
    "is checked in a time that grows with its length where it is full of %j",
    async (unit) => {
      const isLinear = await growsLinearly(1_000_000, (size) =>
        expect(() => read(`data:${unit.repeat(size / unit.length)}*`)).toThrow(),
      );
      expect(isLinear).toBe(true);
    },
  );
});
