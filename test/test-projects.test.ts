import { describe, expect, test } from "vitest";
import { readSources, type SourceFile } from "./source-files.ts";

/** What does not end with its test. */
const CHANGES_ITS_PROCESS =
  /\bvi\.(mock|doMock|hoisted|stubGlobal)|\bprocess\.(chdir|umask|on)\(|\bprocess\.env(\.\w+|\[[^\]]+\])\s*=[^=]|\bdelete process\.env|\b(silenceConsole|trustRoot|hardenSignatures)\(/;
/** What needs more than the process of the test. */
const NEEDS_MORE =
  /^(test\/(database|gateway|run\/(test-postgres|scratch-dir|build-dist|spawn-gateway))\.ts|(node:)?child_process)$/;
/** Not the `dist` of a package. */
const BUILT_PROGRAM = /(?<!\w\/)dist\/(src|test|scripts)\/[\w/-]+\.js/;
/** The places that name or start programs below `dist`. */
const STARTS_PROGRAMS =
  /^test\/(run\/cli-process|run\/spawn-gateway|stories\/postgres-story|whatsapp-server\/server-process)\.ts$|^src\/extensions\/public-pages\/public-pages\.ts$/;

/** An expression that measures how long something took. Dates that lie before now by a number are data. */
const MEASURED = String.raw`(?:performance\.now\(\) - |Date\.now\(\) - [a-z]\w*\b(?![.(])|process\.(?:hrtime|cpuUsage)\b|\b(?:cpuMsOf|leastCpuMs)\()`;
const COMPARED = String.raw`[^;]*?\)\s*\.(?:not\.)?toBe(?:Less|Greater)Than`;
const ASSERTED_TIMES = [
  new RegExp(String.raw`\bexpect(?:\.poll)?\([^;]*?${MEASURED}${COMPARED}`),
  new RegExp(String.raw`\bexpect\([^;]*?\bduration_?ms\b${COMPARED}`, "i"),
  new RegExp(String.raw`\bexpect\([^;]*? - (?:began|since|start\w*|\w+edAt)\b${COMPARED}`),
];
const NAMED_TIME = new RegExp(String.raw`\b(?:const|let) (\w+) =(?! \(?[\w: ]*\)? =>)[^;]*?${MEASURED}`, "g");

/** What passes or fails by how fast the machine is. */
function assertsTime(text: string): boolean {
  const names = [...text.matchAll(NAMED_TIME)].map(([, name]) => name);
  return [
    ...ASSERTED_TIMES,
    ...names.map((name) => new RegExp(String.raw`\bexpect\([^;]*?\b${name}\b${COMPARED}`)),
  ].some((pattern) => pattern.test(text));
}

const everything = ["src", "packages", "test", "migrations"].flatMap(readSources);
const byPath = new Map(everything.map((source) => [source.path, source]));
const testFiles = everything.filter(({ path }) => path.endsWith(".test.ts"));
const isUnit = ({ path }: SourceFile) => path.endsWith(".unit.test.ts");
const isShared = ({ path }: SourceFile) => !/\.(gate|isolated|pages|release)\.test\.ts$/.test(path);

/** What a file imports by value, also through others; programs of `src` start processes of their own. */
function reach(from: SourceFile, into: RegExp): Set<string> {
  const found = new Set<string>();
  const add = (source: SourceFile): void => {
    for (const { target, values } of source.imports) {
      if (values.length === 0 || found.has(target)) continue;
      found.add(target);
      const next = byPath.get(target);
      if (next !== undefined && into.test(target)) add(next);
    }
  };
  add(from);
  return found;
}

describe("a test file in a shared process", () => {
  test("changes nothing of the process", () => {
    const shared = testFiles.filter(isShared);
    expect(shared.length).toBeGreaterThan(100);
    expect(shared.filter(({ text }) => CHANGES_ITS_PROCESS.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("ends its fake clock", () => {
    const faked = testFiles.filter(isShared).filter(({ text }) => text.includes("vi.useFakeTimers"));
    expect(faked.length).toBeGreaterThan(0);
    expect(faked.filter(({ text }) => !text.includes("vi.useRealTimers")).map(({ path }) => path)).toEqual(
      [],
    );
  });
});

describe("a unit test", () => {
  test("needs neither a database nor a gateway nor a process", () => {
    const wrong = testFiles
      .filter(isUnit)
      .flatMap((file) =>
        [...reach(file, /^test\//)]
          .filter((target) => NEEDS_MORE.test(target))
          .map((target) => `${file.path} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });
});

test("a test file that starts a built program builds it first", () => {
  const starters = testFiles.filter(
    (file) =>
      BUILT_PROGRAM.test(file.text) ||
      [...reach(file, /^test\//)].some((target) => STARTS_PROGRAMS.test(target)),
  );
  expect(starters.length).toBeGreaterThan(20);
  expect(
    starters.filter(({ text }) => !text.includes("beforeAll(buildDist)")).map(({ path }) => path),
  ).toEqual([]);
});

describe("a test", () => {
  test("asserts no time", () => {
    const files = [...testFiles, ...readSources("panel").filter(({ path }) => path.endsWith(".test.ts"))];
    const wrong = files.filter(({ text }) => assertsTime(text)).map(({ path }) => path);
    expect(wrong).toEqual(["test/test-projects.test.ts"]);
  });

  test.each([
    ["expect(performance.now() - began).toBeLessThan(50);", true],
    ["expect(\n  await cpuMsOf(() => run()),\n).toBeLessThan(50);", true],
    ["expect(outcome.durationMs).toBeGreaterThan(4_900);", true],
    ["expect((runs[5] ?? 0) - startedAt).not.toBeGreaterThan(1_000);", true],
    ["const took = (performance.now() - since) / 1_000;\nexpect(took).toBeLessThan(3);", true],
    ["const spent = await cpuMsOf(run);\nall.push(1);\nexpect(Math.min(spent, 7)).toBeLessThan(3);", true],
    ["expect(await growsLinearly(1_000, run)).toBe(true);", false],
    ["expect(decideAttempt(failed).delayMs).toBeLessThanOrEqual(40_000);", false],
    ["expect(times.at(-1)).toBeGreaterThan(Date.now() - 2 * 3_600_000);", false],
    ["expect(attempt).toMatchObject({ duration_ms: expect.any(Number) });", false],
    ["const since = performance.now();\nexpect(clock.read(since)).toBe(7);", false],
  ])("%j", (text, expected) => expect(assertsTime(text)).toBe(expected));
});
