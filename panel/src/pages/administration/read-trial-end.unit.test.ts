import { expect, test } from "vitest";
import { readTrialEnd } from "./read-trial-end.ts";

test("a day ends a trial with its last second in the reader's zone", () => {
  const end = new Date(readTrialEnd("2027-01-31"));
  expect([end.getFullYear(), end.getMonth(), end.getDate(), end.getHours(), end.getSeconds()]).toEqual([
    2027, 0, 31, 23, 59,
  ]);
});

test("what is no day goes to the gateway as typed", () => {
  expect([readTrialEnd("tomorrow"), readTrialEnd("2027-99-99")]).toEqual(["tomorrow", "2027-99-99"]);
});
