import { describe, expect, test } from "vitest";
import { FileResponseLimit } from "./file-response-limit.ts";

const AT_ONCE = 16;

describe("files in workflow responses", () => {
  test("wait while sixteen others are read, and all of them are read in the end", async () => {
    const files = new FileResponseLimit();
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const read = (name: string) =>
      files.use(async (takeRoom) => {
        await takeRoom();
        order.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    const readings = Array.from({ length: AT_ONCE + 1 }, (_, n) => read(`file ${n}`));
    await expect.poll(() => order).toHaveLength(AT_ONCE);
    ends[0]?.();
    await expect.poll(() => order.at(-1)).toBe(`file ${AT_ONCE}`);
    for (const end of ends) end();
    await Promise.all(readings);
  });

  test("leave the queue when their request ends first", async () => {
    const files = new FileResponseLimit();
    const ends: (() => void)[] = [];
    const held = Array.from({ length: AT_ONCE }, () =>
      files.use(async (takeRoom) => {
        await takeRoom();
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await expect.poll(() => ends).toHaveLength(AT_ONCE);
    await files.use(async (takeRoom) => void takeRoom());
    for (const end of ends) end();
    await Promise.all(held);
    const again = Array.from({ length: AT_ONCE }, () => files.use((takeRoom) => takeRoom()));
    await Promise.all(again);
  });

  test("are not queued when they need no memory", async () => {
    const files = new FileResponseLimit();
    expect(await files.use(async () => "text")).toBe("text");
  });
});
