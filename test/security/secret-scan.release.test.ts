import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../run/build-dist.ts";
import { isFullRun, printFigures } from "./run-size.ts";
import { scanForSecrets, searchPlaces } from "./secret-scan.ts";

beforeAll(buildDist);

test("No secret that a gateway uses is in its log, its tables, its files or its metrics", {
  timeout: 600_000,
}, async () => {
  const figures = await scanForSecrets({ rounds: isFullRun ? 3 : 1 });
  printFigures("Scan for secrets", figures);
  expect(figures.finds).toEqual([]);
  expect(figures.secrets).toBeGreaterThan(20);
  for (const kind of ["log", "table", "file", "metrics"]) {
    expect(figures.searched[kind], kind).toBeGreaterThan(1_000);
  }
});

test("The scan finds a secret in plain form, in a URL, in hex and in base64", () => {
  const secret = "s3cr3t/with+signs=and more of it";
  const basic = Buffer.from(`user:${secret}`).toString("base64");
  const places = {
    "log 1": `token ${secret}`,
    "log 2": `?token=${encodeURIComponent(secret)}`,
    "log 3": `\\x${Buffer.from(secret).toString("hex")}`,
    "log 4": `Basic ${basic}`,
    "log 5": "nothing",
  };
  expect(searchPlaces(places, { key: secret }).finds).toEqual([1, 2, 3, 4].map((nth) => `log ${nth}: key`));
});
