import { type AST, RegExpParser } from "@eslint-community/regexpp";
import type { Pattern } from "./patterns.ts";

/** Texts that make a pattern work: `before`, then `unit` again and again, then `after`. */
export interface Attack {
  before: string;
  unit: string;
  after: string;
}

/** Characters that patterns look for or stop at. */
const GENERIC = [..."a0 \n:/.-_=<[(\"'`*~\\,;@#&%+{é👨", "\u0301", "\u200d", "\ud800", "\0", "\t"];
/** What may follow the part of a text that fits: it makes the rest fail late. */
const SEPARATORS = ["", "\n", " ", "a", "0", "!", "\0"];
const ENDINGS = ["", "\n!\0", "a"];
/** It stands before the unit where the pattern is not to begin there. */
const BEGINNINGS = ["", "x", " "];

/** Attacks that are derived from the pattern: texts that fit it up to one of its parts, repeated, or with each unit behind them. */
export function attacksOn({ source, flags }: Pattern, mostPrefixes: number): Attack[] {
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

/** Writes texts that parts of a pattern fit. */
class Sampler {
  readonly #alphabet: readonly string[];
  readonly #flags: string;

  constructor(alphabet: ReadonlySet<string>, flags: string) {
    this.#alphabet = [...alphabet];
    this.#flags = flags.replace(/[gy]/g, "");
  }

  /** Texts that the pattern fits up to one of its parts. */
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

  /** Texts that a part fits which may come again and again. */
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

  /** Characters of the alphabet that a class takes. */
  #fitting(raw: string): string[] {
    const pattern = new RegExp(`^${raw}$`, this.#flags);
    return this.#alphabet.filter((one) => pattern.test(one)).slice(0, MOST_SAMPLES);
  }
}
