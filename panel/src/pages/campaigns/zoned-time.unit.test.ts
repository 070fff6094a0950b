import { expect, test } from "vitest";
import { toLocal, toMoment } from "./zoned-time.ts";

test("a wall clock in a zone becomes its moment, and the moment the same wall clock", () => {
  expect(toMoment("2026-11-27T09:00", "America/Sao_Paulo")?.toISOString()).toBe("2026-11-27T12:00:00.000Z");
  expect(toMoment("2026-07-01T09:00", "Europe/Madrid")?.toISOString()).toBe("2026-07-01T07:00:00.000Z");
  expect(toMoment("2026-12-01T09:00", "Europe/Madrid")?.toISOString()).toBe("2026-12-01T08:00:00.000Z");
  expect(toLocal(new Date("2026-11-27T12:00:00Z"), "America/Sao_Paulo")).toBe("2026-11-27T09:00");
});

test("a wall clock just after the clocks change has the offset of its own day", () => {
  expect(toMoment("2026-03-29T03:30", "Europe/Madrid")?.toISOString()).toBe("2026-03-29T01:30:00.000Z");
  expect(toMoment("2026-03-29T01:30", "Europe/Madrid")?.toISOString()).toBe("2026-03-29T00:30:00.000Z");
});

test("a text that is no time has no moment", () => {
  expect(toMoment("", "UTC")).toBeUndefined();
  expect(toMoment("tomorrow", "UTC")).toBeUndefined();
});
