import { afterAll, expect, test } from "vitest";
import { createSafeFetch } from "../../../../platform/outgoing/safe-fetch.ts";
import { readPicture } from "./read-media.ts";

const lines: object[] = [];
const log = { warn: (fields: object) => void lines.push(fields) } as never;
const outgoing = createSafeFetch({ allowedHosts: ["external"], log });

afterAll(() => outgoing.close());

test("a picture whose address the policy forbids is rejected, and the log names its instance", async () => {
  const reading = readPicture({ outgoing }, { instance_id: 7 }, "url", "http://127.0.0.1:81/secret.png");
  await expect(reading).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  expect(lines).toEqual([{ host: "127.0.0.1:81", reason: "url", instance_id: 7 }]);
});
