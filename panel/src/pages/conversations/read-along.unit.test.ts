import { expect, test } from "vitest";
import { noteChange, readAlong } from "./read-along.ts";

const SENT = { id: 7, message_id: "3EB0A" };
const OTHER = { id: 8, message_id: "3EB0B" };

test.each([
  ["its row", [7]],
  ["its id on the network", ["3EB0A"]],
])("a message that an event names by %s while it is read is outdated, and no other", async (_, ids) => {
  const { found, isOutdated } = await readAlong(async () => {
    noteChange(ids);
    return [SENT, OTHER];
  });
  expect(found.map(isOutdated)).toEqual([true, false]);
});

test("events before and after a read do not make it outdated", async () => {
  noteChange([7]);
  const { isOutdated } = await readAlong(async () => SENT);
  noteChange([7]);
  expect(isOutdated(SENT)).toBe(false);
});

test("a read that fails does so for its caller, and is forgotten", async () => {
  await expect(readAlong(() => Promise.reject(new Error("offline")))).rejects.toThrow("offline");
});
