import { expect, test } from "vitest";
import { pointInTime } from "./point-in-time.ts";

test("A time in a request is one that the database can store", () => {
  expect(pointInTime.parse("2026-11-20T12:00:00+02:00")).toEqual(new Date("2026-11-20T10:00:00Z"));
  expect(pointInTime.safeParse("9999-12-31T23:59:59.999Z").success).toBe(true);
  for (const refused of ["-047503-06-13T08:32:20.290Z", "+010000-01-01T00:00:00Z", "soon", ""]) {
    expect(pointInTime.safeParse(refused).success, refused).toBe(false);
  }
});
