import { expect, test } from "vitest";
import { chooseBackupsToDelete } from "./run-backup.ts";

const HOUR_MS = 3_600_000;
const NOW = new Date("2026-11-20T12:00:00Z");

/** One backup every six hours for `days` days, oldest first. */
function everySixHours(days: number): { id: string; created_at: Date }[] {
  return Array.from({ length: days * 4 }, (_, n) => {
    const created_at = new Date(NOW.getTime() - (days * 4 - n - 1) * 6 * HOUR_MS);
    return { id: created_at.toISOString().slice(0, 13), created_at };
  });
}

test("backup retention keeps the last day, and the newest backups of 7 days, 4 weeks and 6 months", () => {
  const backups = everySixHours(400);
  const expired = new Set(chooseBackupsToDelete(backups, NOW));
  const kept = backups.filter((backup) => !expired.has(backup)).map(({ id }) => id);
  expect(kept).toEqual([
    "2026-06-30T18",
    "2026-07-31T18",
    "2026-08-31T18",
    "2026-09-30T18",
    "2026-10-31T18",
    "2026-11-01T18",
    "2026-11-08T18",
    "2026-11-14T18",
    "2026-11-15T18",
    "2026-11-16T18",
    "2026-11-17T18",
    "2026-11-18T18",
    "2026-11-19T18",
    "2026-11-20T00",
    "2026-11-20T06",
    "2026-11-20T12",
  ]);
});

test("backup retention deletes none of the remaining backups because of missing days", () => {
  const old = everySixHours(30).map(({ id, created_at }) => ({
    id,
    created_at: new Date(created_at.getTime() - 90 * 24 * HOUR_MS),
  }));
  const expired = new Set(chooseBackupsToDelete(old, NOW));
  const days = new Set(old.filter((backup) => !expired.has(backup)).map(({ id }) => id.slice(0, 10)));
  expect(days.size).toBeGreaterThanOrEqual(9);
});
