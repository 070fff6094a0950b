import { describe, expect, test } from "vitest";
import { readSources, type SourceFile } from "./source-files.ts";

/** Changes that outlive their test. */
const CHANGES_ITS_PROCESS =
  /\bvi\.(mock|doMock|hoisted|stubGlobal)|\bprocess\.(chdir|umask|on)\(|\bprocess\.env(\.\w+|\[[^\]]+\])\s*=[^=]|\bdelete process\.env|\b(silenceConsole|trustRoot|hardenSignatures)\(/;
/** Tests that need more than their process. */
const NEEDS_MORE =
  /^(test\/(database|gateway|run\/(test-postgres|scratch-dir|build-dist|spawn-gateway))\.ts|(node:)?child_process)$/;
/** Not the `dist` of a package. */
const BUILT_PROGRAM = /(?<!\w\/)dist\/(src|test|scripts)\/[\w/-]+\.js/;
/** Files that name or start programs below `dist`. */
const STARTS_PROGRAMS =
  /^test\/(run\/cli-process|run\/spawn-gateway|stories\/engine\/postgres-story|whatsapp-server\/process\/server-process)\.ts$|^src\/extensions\/public-pages\/public-pages\.ts$/;

/** An expression that measures a duration. Subtracting a constant from the current date is data. */
const MEASURED = String.raw`(?:performance\.now\(\) - |Date\.now\(\) - [a-z]\w*\b(?![.(])|[\w)\]] - (?:\w+At|began|since)\b(?![.(]))`;
const COMPARED = String.raw`[^;]*?\)\s*\.(?:not\.)?toBe(?:Less|Greater)Than`;
const A_CLOCK = String.raw`\b(?:performance|Date)\.now\(\)`;
const SECONDS = String.raw`[1-5]?\d_\d{3}\b`;
const ASSERTED_TIMES = [
  new RegExp(String.raw`\bexpect(?:\.poll)?\([^;]*?${MEASURED}${COMPARED}`),
  new RegExp(String.raw`\bexpect\([^;]*?\bduration_?ms\b${COMPARED}`, "i"),
  new RegExp(String.raw`\bexpect\([^;]*? - (?:began|since|start\w*|\w+edAt)\b${COMPARED}`),
  // A date in the near future.
  new RegExp(String.raw`\.toBe(?:Less|Greater)Than(?:OrEqual)?\([^;]*?${A_CLOCK} \+`),
  new RegExp(String.raw`\bexpect\([^;]*?${A_CLOCK} \+ ${COMPARED}`),
  /\bexpires_at = now\(\) \+ interval '\d+ ?(?:s|sec\w*|ms|milli\w*)'/,
  // CPU time, which only test/cpu-time.ts may compare.
  /\bprocess\.(?:cpuUsage|hrtime)\b|\bcpuMsOf\(/,
  /\b(?:\w*cpuMs|\w*processor_ms|leastCpuMs\([^;]*?\)|time(?:Once|Least)\([^;]*?\)) [<>]=? /,
  // A shorter limit than that of `waitUntil` and `expect.poll`, a bounded loop, and a sleep for each attempt.
  new RegExp(String.raw`\b(?:waitUntil|waitFor)\([^;]*?, ${SECONDS},?\s*\)`),
  new RegExp(String.raw`\b(?:poll|waitFor\w*)\([^;]*?\btimeout: ${SECONDS}`),
  new RegExp(String.raw`\bconst [A-Z]\w* = \{ timeout: ${SECONDS}`),
  new RegExp(String.raw`&& ${A_CLOCK} < |\bwaitUntil\(\(\) => ${A_CLOCK}`),
  /\bfor \([^)]*\) await (?:delay|sleep)\(/,
];
const NAMED_TIME = new RegExp(String.raw`\b(?:const|let) (\w+) =(?! \(?[\w: ]*\)? =>)[^;]*?${MEASURED}`, "g");

/** Whether the result depends on the machine's speed. */
function assertsTime(text: string): boolean {
  const names = [...text.matchAll(NAMED_TIME)].map(([, name]) => name);
  return [
    ...ASSERTED_TIMES,
    ...names.map((name) => new RegExp(String.raw`\bexpect\([^;]*?\b${name}\b${COMPARED}`)),
  ].some((pattern) => pattern.test(text));
}

/** Tests, stories and suites, without measurements for documents. */
function readsTests({ path }: SourceFile): boolean {
  const isTest = /\.test\.ts$|-story\.ts$/.test(path) || path.startsWith("test/");
  return isTest && !/^test\/(bench|load|run)\//.test(path);
}

const everything = ["src", "packages", "test", "migrations"].flatMap((folder) => readSources(folder));
const byPath = new Map(everything.map((source) => [source.path, source]));
const testFiles = everything.filter(({ path }) => path.endsWith(".test.ts"));
const isUnit = ({ path }: SourceFile) => path.endsWith(".unit.test.ts");
const isShared = ({ path }: SourceFile) => !/\.(gate|isolated|pages|release)\.test\.ts$/.test(path);

/** Files imported by value, directly or indirectly. Programs of `src` start their own processes. */
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
    const files = [...everything, ...readSources("panel")].filter(readsTests);
    const wrong = files.filter(({ text }) => assertsTime(text)).map(({ path }) => path);
    expect(wrong).toEqual(["test/cpu-time.ts", "test/test-projects.test.ts"]);
  });

  test("that may be skipped says why", () => {
    const silent = [...everything, ...readSources("panel")]
      .filter(readsTests)
      .filter(({ text }) => /\b(?:test|it|describe)\.(?:skipIf|runIf|skip|todo)\b|\.skip\(\)/.test(text));
    // The example of a title.
    expect(silent.map(({ path }) => path)).toEqual(["test/titles.test.ts"]);
  });

  test.each([
    ["expect(performance.now() - began).toBeLessThan(50);", true],
    ["expect(\n  await cpuMsOf(() => run()),\n).toBeLessThan(50);", true],
    ["expect(outcome.durationMs).toBeGreaterThan(4_900);", true],
    ["expect((runs[5] ?? 0) - startedAt).not.toBeGreaterThan(1_000);", true],
    ["const took = (performance.now() - since) / 1_000;\nexpect(took).toBeLessThan(3);", true],
    ["const spent = await cpuMsOf(run);\nall.push(1);\nexpect(Math.min(spent, 7)).toBeLessThan(3);", true],
    ["ratios.push((await cpuMsOf(undefined)) / (await cpuMsOf(stored)));", true],
    ["const late = Math.max(...answeredAt.values()) - backAt;\nexpect(late).toBeLessThan(30_000);", true],
    ["return [1, 2, 3].every(() => timeOnce(run, attack, length) > EXPONENTIAL_MS);", true],
    ["const isOver = cpuMs > 20 * plain;", true],
    ["if (large.processor_ms > 10 * Math.max(small.processor_ms, 100)) faults.push('a product');", true],
    ["await waitUntil(() => most >= 12, 10_000).catch(() => {});", true],
    ["update api_key set expires_at = now() + interval '4 s' where id = $1", true],
    ["expect(work.nextChangeAt()).toBeGreaterThan(performance.now() + 4_000);", true],
    ["for (; ticks < 20; ticks++) await delay(50);", true],
    ["expect(asked(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(55_000);", true],
    ["await expect\n  .poll(send, { timeout: 20_000 })\n  .toBe(429);", true],
    ["while (heap() > first && performance.now() < giveUpAt) await pass();", true],
    ["await waitUntil(() => performance.now() > until);", true],
    ["await waitUntil(async () => (await find())?.status === 'completed', 120_000);", false],
    ["await vi.waitFor(look, { timeout: 60_000, interval: 100 });", false],
    ["update job set run_at = now() + interval '20 ms' where id = $1", false],
    ["expect(await growsLinearly(1_000, run)).toBe(true);", false],
    ["expect(decideAttempt(failed).delayMs).toBeLessThanOrEqual(40_000);", false],
    ["expect(times.at(-1)).toBeGreaterThan(Date.now() - 2 * 3_600_000);", false],
    ["expect(attempt).toMatchObject({ duration_ms: expect.any(Number) });", false],
    ["const since = performance.now();\nexpect(clock.read(since)).toBe(7);", false],
  ])("%j", (text, expected) => expect(assertsTime(text)).toBe(expected));
});
