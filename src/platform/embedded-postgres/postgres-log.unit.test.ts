import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresLogSize, readPostgresLogFrom, rotatePostgresLog } from "./postgres-log.ts";

let directory: string;
let log: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "waygate-log-"));
  log = join(directory, "postgresql.log");
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test("a missing log is empty", async () => {
  expect(await postgresLogSize(log)).toBe(0);
  expect(await readPostgresLogFrom(log, 0)).toBe("");
  await rotatePostgresLog(log);
});

test("the reported lines are the last ten since the start, not older ones", async () => {
  await writeFile(log, "long ago\n");
  const start = await postgresLogSize(log);
  expect(await readPostgresLogFrom(log, start)).toBe("");
  await appendFile(log, Array.from({ length: 12 }, (_, i) => `line ${i}\n`).join(""));
  expect((await readPostgresLogFrom(log, start)).split("\n")).toEqual(
    Array.from({ length: 10 }, (_, i) => `line ${i + 2}`),
  );
  await appendFile(log, `${"x".repeat(20_000)}\nthe end\n`);
  expect(await readPostgresLogFrom(log, start)).toMatch(/^x+\nthe end$/);
});

test("a log above five megabytes is rotated, with one older part kept", async () => {
  await rotatePostgresLog(log);
  expect(await postgresLogSize(log)).toBeGreaterThan(0);
  await writeFile(log, "y".repeat(5_000_001));
  await rotatePostgresLog(log);
  expect(await postgresLogSize(log)).toBe(0);
  expect((await stat(`${log}.old`)).size).toBe(5_000_001);
  await appendFile(log, "on and on");
  expect(await readFile(log, "utf8")).toBe("on and on");
});
