import { afterAll, describe, expect, test } from "vitest";
import { findPatterns, type Pattern, readPatterns } from "./patterns.ts";
import { type TimedPattern, timePattern } from "./time-patterns.ts";

const MIB = 1_048_576;
/** What takes less is not looked at again. */
const BUDGET_MS = 50;
const isFull = process.env.WAYGATE_SECURITY === "full";
const CUT = { longest: MIB, budgetMs: BUDGET_MS, first: 1_024, prefixes: 2 };
const FULL = { ...CUT, first: 4_096, prefixes: 24 };

const { literals, constructors } = findPatterns();

describe("regular expressions", () => {
  test("are literals in the sources, where they can be checked", () => {
    expect(constructors).toEqual([]);
    expect(literals.length).toBeGreaterThan(250);
  });

  const timed: TimedPattern[] = [];
  afterAll(() => {
    if (isFull) report(timed);
  });

  test.each(toPortions(literals, 50))(
    "of $label take a time in proportion to 1 MB of their worst text",
    ({ patterns }) => {
      const these = patterns.map((pattern) => timePattern(pattern, isFull ? FULL : CUT));
      timed.push(...these);
      expect(these.filter(({ isOver }) => isOver).map(describePattern)).toEqual([]);
    },
  );
});

/** Portions that a busy machine finishes within the time limit of a test. */
function toPortions(patterns: readonly Pattern[], size: number) {
  const starts = patterns.map((_, index) => index).filter((index) => index % size === 0);
  return starts.map((start) => {
    const portion = patterns.slice(start, start + size);
    return { label: `${portion[0]?.place} to ${portion.at(-1)?.place}`, patterns: portion };
  });
}

function report(timed: readonly TimedPattern[]): void {
  const attacks = timed.reduce((sum, one) => sum + one.attacks, 0);
  const slowest = timed.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, 5);
  const lines = [
    `${timed.length} patterns, ${attacks} attacks. The slowest:`,
    ...slowest.map(describePattern),
  ];
  process.stdout.write(`${lines.join("\n  ")}\n`);
}

function describePattern({ place, source, flags, attack, cpuMs, length }: TimedPattern): string {
  return `${place} /${source}/${flags}: ${Math.round(cpuMs)} ms for ${length} characters of ${JSON.stringify(attack)}`;
}

describe("the check of regular expressions finds", () => {
  test.each([
    ["an exponential pattern", "(a+)+$", ""],
    ["alternatives that fit alike", "^(?:\\w|\\d)*!$", ""],
    ["words with optional spaces", "^(\\w+\\s?)*$", ""],
    ["a trimmed end", "\\/+$", ""],
    ["both ends trimmed at once", "^\\/+|\\/+$", "g"],
    ["letters at an end", "^\\P{L}+|\\P{L}+$", "gu"],
    ["the last part of a path", "[^/]+$", ""],
    ["a search across lines", "^FN[^:]*:(.+)$", "m"],
    ["a search across lines with a group", "^(?:item\\d+\\.)?TEL[^:]*:(.+)$", "m"],
    ["two parts that fit the same", "^(?:data:([^;,]*)[^,]*,)?([\\s\\S]*)$", ""],
    ["spaces around a name", "\\{\\{\\s*([\\p{L}\\p{N}_.\\- ]{1,64}?)\\s*\\}\\}", "gu"],
    ["a mark that does not close", "\\*\\*(?=\\S)([^\\n]+?)(?<=\\S)\\*\\*", "g"],
    ["a link that does not end", "\\[([^\\]\\n]+)\\]\\((https?:\\/\\/[^\\s)]+)\\)", "g"],
    ["an address inside another", "\\[([^[\\]\\n]+)\\]\\((https?:\\/\\/[^\\s)]+)\\)", "g"],
    ["an optional end of a path", "(\\/api(\\/v1)?|\\/app(\\/.*)?)?\\/*$", ""],
    ["labels of a name", "^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\\.)*[a-z0-9_-]*[a-z_][a-z0-9_-]*$", ""],
  ])("%s", (_, source, flags) => {
    expect(timePattern({ place: "here", source, flags }, CUT)).toMatchObject({ isOver: true });
  });

  test("patterns anywhere in a source, and constructors", () => {
    const found = { literals: [], constructors: [] };
    readPatterns(
      "a.ts",
      "const a = <T>(b: T) => /x\\/y/gu;\nclass C { #d = new RegExp(`e`); f = RegExp('g') }",
      found,
    );
    expect(found).toEqual({
      literals: [{ place: "a.ts:1", source: "x\\/y", flags: "gu" }],
      constructors: ["a.ts:2", "a.ts:2"],
    });
  });
});
