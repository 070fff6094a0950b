import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ParserPlugin, parse } from "@babel/parser";
import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { afterAll, describe, expect, test } from "vitest";
import { findExplosion, growsLinearly, leastCpuMs } from "../cpu-time.ts";
import { listFiles, ROOT } from "../source-files.ts";

/** A regular expression in a source. */
interface Pattern {
  /** Such as `src/platform/log/log.ts:12`. */
  place: string;
  source: string;
  flags: string;
}

interface FoundPatterns {
  literals: Pattern[];
  /** Places of `RegExp(...)`, whose patterns cannot be checked. */
  constructors: string[];
}

interface Node {
  type: string;
  loc?: { start: { line: number } };
  [key: string]: unknown;
}

/** All regular expressions of program and panel, found in the syntax tree. */
function findPatterns(): FoundPatterns {
  const found: FoundPatterns = { literals: [], constructors: [] };
  const sources = [...listFiles("src"), ...listFiles("panel/src")].filter((path) => /\.tsx?$/.test(path));
  for (const path of sources) {
    if (!path.endsWith(".test.ts")) readPatterns(path, readFileSync(join(ROOT, path), "utf8"), found);
  }
  return found;
}

function readPatterns(path: string, text: string, found: FoundPatterns): void {
  const plugins: ParserPlugin[] = path.endsWith(".tsx") ? ["typescript", "jsx"] : ["typescript"];
  const tree = parse(text, { sourceType: "module", plugins });
  visit(tree.program, (node) => {
    const place = `${path}:${node.loc?.start.line}`;
    if (node.type === "RegExpLiteral")
      found.literals.push({ place, source: String(node.pattern), flags: String(node.flags) });
    if (node.type === "NewExpression" || node.type === "CallExpression") {
      if ((node.callee as { name?: unknown }).name === "RegExp") found.constructors.push(place);
    }
  });
}

function visit(value: unknown, each: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, each);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const node = value as Node;
  if (typeof node.type === "string") each(node);
  for (const [key, child] of Object.entries(node)) if (key !== "loc") visit(child, each);
}

/** Worst-case texts: `before`, repeated `unit`, `after`. */
interface Attack {
  before: string;
  unit: string;
  after: string;
}

/** Characters that patterns often match or stop at. */
const GENERIC = [..."a0 \n:/.-_=<[(\"'`*~\\,;@#&%+{é👨", "\u0301", "\u200d", "\ud800", "\0", "\t"];
/** Follows a matching prefix to make the rest fail late. */
const SEPARATORS = ["", "\n", " ", "a", "0", "!", "\0"];
const ENDINGS = ["", "\n!\0", "a"];
/** Precedes the unit so that the pattern does not match at the start. */
const BEGINNINGS = ["", "x", " "];

/** Attacks derived from the pattern: prefixes that match up to one of its parts, repeated or followed by each unit. */
function attacksOn({ source, flags }: Pattern, mostPrefixes: number): Attack[] {
  const tree = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes("u"),
    unicodeSets: flags.includes("v"),
  });
  const alphabet = new Set([...GENERIC, ...charactersOf(tree)]);
  const sampler = new Sampler(alphabet, flags);
  const fitting = sampler.prefixesOf(tree);
  const prefixes = new Set([...BEGINNINGS, ...fitting.slice(0, mostPrefixes)]);
  const units = new Set([...alphabet, ...sampler.repeatedIn(tree)]);
  for (const prefix of fitting) for (const separator of SEPARATORS) units.add(prefix + separator);
  units.delete("");
  const endings = new Set([...ENDINGS, charactersOf(tree)[0] ?? ""]);
  return [...prefixes].flatMap((before) =>
    [...units].flatMap((unit) => [...endings].map((after) => ({ before, unit, after }))),
  );
}

function charactersOf(node: AST.Node): string[] {
  const found = new Set<string>();
  walk(node, (one) => {
    if (one.type === "Character") found.add(String.fromCodePoint(one.value));
  });
  return [...found].slice(0, 60);
}

function walk(node: AST.Node, each: (node: AST.Node) => void): void {
  each(node);
  const {
    alternatives = [],
    elements = [],
    element,
  } = node as Partial<AST.Pattern & AST.Alternative & AST.Quantifier>;
  for (const child of [...alternatives, ...elements, ...(element ? [element] : [])]) walk(child, each);
  if (node.type === "CharacterClassRange") for (const child of [node.min, node.max]) walk(child, each);
}

const MOST_SAMPLES = 4;
const MOST_PREFIXES = 24;

/** Generates texts that match parts of a pattern. */
class Sampler {
  readonly #alphabet: readonly string[];
  readonly #flags: string;

  constructor(alphabet: ReadonlySet<string>, flags: string) {
    this.#alphabet = [...alphabet];
    this.#flags = flags.replace(/[gy]/g, "");
  }

  /** Texts that match up to one of its parts. */
  prefixesOf(pattern: AST.Pattern): string[] {
    const found = new Set<string>();
    walk(pattern, (node) => {
      if (node.type !== "Alternative" || found.size > MOST_PREFIXES) return;
      let prefix = "";
      for (const element of node.elements) {
        prefix += this.#sampleOf(element);
        found.add(prefix);
      }
    });
    return [...found].filter((one) => one.length <= 200).slice(0, MOST_PREFIXES);
  }

  /** Texts that match a repeatable part. */
  repeatedIn(pattern: AST.Pattern): string[] {
    const found = new Set<string>();
    walk(pattern, (node) => {
      if (node.type !== "Quantifier" || node.max < 2) return;
      for (const one of this.#samplesOf(node.element)) found.add(one);
    });
    return [...found];
  }

  #sampleOf(node: AST.Node): string {
    return this.#samplesOf(node)[0] ?? "";
  }

  #samplesOf(node: AST.Node): string[] {
    switch (node.type) {
      case "Character":
        return [String.fromCodePoint(node.value)];
      case "CharacterSet":
      case "CharacterClass":
      case "ExpressionCharacterClass":
        return this.#fitting(node.raw);
      case "Quantifier":
        return this.#samplesOf(node.element).map((one) => one.repeat(Math.min(20, Math.max(1, node.min))));
      case "Group":
      case "CapturingGroup":
        return node.alternatives.map(({ elements }) => elements.map((one) => this.#sampleOf(one)).join(""));
      default:
        return [];
    }
  }

  /** Characters of the alphabet in a class. */
  #fitting(raw: string): string[] {
    const pattern = new RegExp(`^${raw}$`, this.#flags);
    return this.#alphabet.filter((one) => pattern.test(one)).slice(0, MOST_SAMPLES);
  }
}

interface TimedPattern extends Pattern {
  /** CPU time of the worst attack on `length` characters. */
  cpuMs: number;
  length: number;
  /** Whether it grows faster than linearly from a quarter of the length. */
  isOver: boolean;
  attack: Attack;
  /** Number of attacks. */
  attacks: number;
}

interface TimingOptions {
  /** The longest text. */
  longest: number;
  /** Text length for choosing the worst attacks. */
  first: number;
  /** Number of matching prefixes before the units. */
  prefixes: number;
}

/** Finds patterns with exponential time. */
const SHORT_LENGTHS = [10, 16, 20, 24, 28];
/** Only a repeated group can be exponential. */
const REPEATED_GROUP = /\)[*+{]/;
/** Attacks measured again, because other programs disturb the first measurement. */
const LIKELY = 16;
/** Attacks that continue with longer texts. */
const WORST = 4;

/**
 * The worst attack on a pattern. One that is too slow on a short text is not tried on longer ones, because a running
 * pattern cannot be stopped.
 */
async function timePattern(pattern: Pattern, options: TimingOptions): Promise<TimedPattern> {
  const run = runOf(pattern);
  const lengths = REPEATED_GROUP.test(pattern.source) ? SHORT_LENGTHS : [];
  const attacks = attacksOn(pattern, options.prefixes);
  const timed: { attack: Attack; cpuMs: number }[] = [];
  for (const attack of attacks) {
    const length = findExplosion(lengths, runOn(run, attack, lengths));
    if (length !== undefined)
      return {
        ...pattern,
        attack,
        cpuMs: Number.POSITIVE_INFINITY,
        isOver: true,
        length,
        attacks: attacks.length,
      };
    timed.push({ attack, cpuMs: timeOnce(run, attack, options.first) });
  }
  const likely = byCpuTime(timed).slice(0, LIKELY);
  for (const one of likely) one.cpuMs = timeLeast(run, one.attack, options.first);
  const worst = byCpuTime(likely).slice(0, WORST);
  const grown: Omit<TimedPattern, keyof Pattern | "attacks">[] = [];
  for (const { attack } of worst) {
    grown.push({ attack, ...(await grow(run, attack, options)) });
    if (grown.at(-1)?.isOver) break;
  }
  const slowest = grown.find(({ isOver }) => isOver) ?? byCpuTime(grown)[0];
  if (!slowest) throw new Error(`${pattern.place} has no attacks`);
  return { ...pattern, ...slowest, attacks: attacks.length };
}

function runOf({ source, flags }: Pick<Pattern, "source" | "flags">): (text: string) => void {
  const pattern = new RegExp(source, flags);
  if (!flags.includes("g")) return (text) => void pattern.test(text);
  return (text) => {
    pattern.lastIndex = 0;
    for (let matches = 0; matches < text.length && pattern.test(text); matches++)
      if (pattern.lastIndex === text.length) break;
  };
}

/** Runs the attack on prepared texts of these lengths. */
function runOn(run: (text: string) => void, attack: Attack, lengths: readonly number[]) {
  const texts = new Map(lengths.map((length) => [length, textOf(attack, length)]));
  return (length: number) => run(texts.get(length) ?? "");
}

function timeOnce(run: (text: string) => void, attack: Attack, length: number): number {
  const text = textOf(attack, length);
  return leastCpuMs(1, () => run(text));
}

function byCpuTime<T extends { cpuMs: number }>(timed: T[]): T[] {
  return timed.toSorted((a, b) => b.cpuMs - a.cpuMs);
}

function timeLeast(run: (text: string) => void, attack: Attack, length: number): number {
  const text = textOf(attack, length);
  return leastCpuMs(5, () => run(text));
}

async function grow(
  run: (text: string) => void,
  attack: Attack,
  { first: shortest, longest }: TimingOptions,
) {
  for (let length = shortest; ; length = Math.min(longest, length * 4)) {
    const isOver = !(await growsLinearly(length, runOn(run, attack, [length / 4, length])));
    if (length >= longest || isOver) return { length, cpuMs: timeOnce(run, attack, length), isOver };
  }
}

function textOf({ before, unit, after }: Attack, length: number): string {
  const text =
    (before + unit.repeat(Math.ceil(length / unit.length))).slice(0, length - after.length) + after;
  // Flattens the text: Node joins its pieces at the first read.
  Buffer.byteLength(text);
  return text;
}

const MIB = 1_048_576;
const isFull = process.env.WAYGATE_SECURITY === "full";
const CUT = { longest: MIB, first: 1_024, prefixes: 2 };
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
    async ({ patterns }) => {
      const these: TimedPattern[] = [];
      for (const pattern of patterns) these.push(await timePattern(pattern, isFull ? FULL : CUT));
      timed.push(...these);
      expect(these.filter(({ isOver }) => isOver).map(describePattern)).toEqual([]);
    },
  );
});

/** Parts that a busy machine finishes within the test timeout. */
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
  ])("%s", async (_, source, flags) => {
    expect(await timePattern({ place: "here", source, flags }, CUT)).toMatchObject({ isOver: true });
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
