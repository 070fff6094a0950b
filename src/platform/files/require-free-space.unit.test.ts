import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { requireFreeSpace } from "./require-free-space.ts";

test("a disk with less free space than needed is refused by its folder, with what to do", async () => {
  await expect(requireFreeSpace(tmpdir(), 2 ** 60)).rejects.toThrow(
    new RegExp(
      `^The disk with ${tmpdir()} is full: \\d+ MB are free, and at least 1152921504606 MB are needed\\. .+DATA_DIR`,
    ),
  );
  await expect(requireFreeSpace(tmpdir(), 1)).resolves.toBeUndefined();
});
