import { expect, test, vi } from "vitest";
import type { Lane } from "./lane-kind.ts";
import { retryUntilCommitted } from "./retry-until-committed.ts";

const lane: Lane = { id: 1, kind: "webhook", key: "1", epoch: 3 };

function failure(code: string): Error {
  return Object.assign(new Error("no"), { code });
}

/** Fails with these codes, one after the other, and then works. */
function failing(...codes: string[]) {
  return vi.fn(async () => {
    const code = codes.shift();
    if (code !== undefined) throw failure(code);
    return "written";
  });
}

test.each([
  ["the disk of the database is full", "53100"],
  ["the database restarts", "57P01"],
  ["somebody else holds the row", "55P03"],
])("the result of a job is written as soon as possible while %s", async (_, code) => {
  const write = failing(code);
  expect(await retryUntilCommitted({ findOwnedLane: () => lane }, lane, write, 1)).toBe("written");
  expect(write).toHaveBeenCalledTimes(2);
});

test("a permanent error is thrown at once", async () => {
  const write = failing("23505");
  await expect(retryUntilCommitted({ findOwnedLane: () => lane }, lane, write)).rejects.toMatchObject({
    code: "23505",
  });
  expect(write).toHaveBeenCalledTimes(1);
});

test("a write is not retried once the lane has another owner", async () => {
  const write = failing("53100");
  await expect(retryUntilCommitted({ findOwnedLane: () => undefined }, lane, write)).rejects.toMatchObject({
    code: "53100",
  });
});
