import { leastCpuMs } from "../cpu-time.ts";
import { type Attack, attacksOn } from "./hostile-units.ts";
import type { Pattern } from "./patterns.ts";

export interface TimedPattern extends Pattern {
  /** Processor time of the worst attack, on a text of `length` characters. */
  cpuMs: number;
  length: number;
  /**
   * Whether that is more than the budget, more than three times what a plain pattern takes at that moment, and either
   * twenty times that or out of proportion to a text of a quarter of the length.
   */
  isOver: boolean;
  attack: Attack;
  /** How many were tried. */
  attacks: number;
}

export interface TimingOptions {
  /** The longest text. */
  longest: number;
  budgetMs: number;
  /** Length of the texts by which the worst attacks are chosen. */
  first: number;
  /** How many beginnings of a fitting text stand before the units. */
  prefixes: number;
}

/** A pattern that doubles its time with each character is found here. */
const SHORT_LENGTHS = [20, 24, 28];
/** Only a group that may come again can do that. */
const REPEATED_GROUP = /\)[*+{]/;
/** Where so short a text takes so long, one that is a few characters longer takes for ever. */
const EXPONENTIAL_MS = 10;
/** Attacks that are measured again after the first measurement, which others at work on the machine disturb. */
const LIKELY = 16;
/** Attacks that go on to longer texts. */
const WORST = 4;
/** Four times the text takes a linear pattern four times as long, a quadratic one sixteen times. */
const GROWTH = 8;

/**
 * The worst attack on a pattern. What is over budget on a short text is not tried on a longer one: a pattern cannot be
 * stopped, and could take hours.
 */
export function timePattern(pattern: Pattern, options: TimingOptions): TimedPattern {
  const run = runOf(pattern);
  const lengths = REPEATED_GROUP.test(pattern.source) ? SHORT_LENGTHS : [];
  const attacks = attacksOn(pattern, options.prefixes);
  const timed: { attack: Attack; cpuMs: number }[] = [];
  for (const attack of attacks) {
    const length = lengths.find((one) => isExponential(run, attack, one));
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
  let slowest: Omit<TimedPattern, keyof Pattern | "attacks"> | undefined;
  for (const { attack } of worst) {
    const grown = { attack, ...grow(run, attack, options, pattern) };
    if (!slowest || grown.cpuMs > slowest.cpuMs) slowest = grown;
    if (slowest.isOver) break;
  }
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

/** Once can be a collection of garbage. */
function isExponential(run: (text: string) => void, attack: Attack, length: number): boolean {
  return [1, 2, 3].every(() => timeOnce(run, attack, length) > EXPONENTIAL_MS);
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

function grow(
  run: (text: string) => void,
  attack: Attack,
  { first: shortest, longest, budgetMs }: TimingOptions,
  { flags }: Pattern,
) {
  for (let length = shortest; ; length = Math.min(longest, length * 4)) {
    const text = textOf(attack, length);
    const first = leastCpuMs(1, () => run(text));
    // Once can be a collection of garbage.
    const again = first > budgetMs ? leastCpuMs(first > 4 * budgetMs ? 2 : 10, () => run(text)) : first;
    const cpuMs = Math.min(first, again);
    const plain = cpuMs > budgetMs ? plainMs(flags) : Number.POSITIVE_INFINITY;
    const isSlow = cpuMs > 3 * plain;
    const isOver = isSlow && (cpuMs > 20 * plain || cpuMs > GROWTH * timeLeast(run, attack, length / 4));
    if (length >= longest || isOver) return { length, cpuMs, isOver };
  }
}

const PLAIN_TEXT = " ".repeat(1_048_576);

const findEachSpace = runOf({ source: "[\\s-]", flags: "g" });

/**
 * What a pattern that matches each of a million characters takes now, found one by one like those of the pattern or
 * replaced at once: others at work on the machine slow all of them down.
 */
function plainMs(flags: string): number {
  const run = flags.includes("g") ? findEachSpace : (text: string) => text.replace(/[\s-]/g, "");
  return leastCpuMs(3, () => run(PLAIN_TEXT));
}

function textOf({ before, unit, after }: Attack, length: number): string {
  const text =
    (before + unit.repeat(Math.ceil(length / unit.length))).slice(0, length - after.length) + after;
  // Node joins the pieces of a text when it is read first: that is not the pattern's time.
  Buffer.byteLength(text);
  return text;
}
