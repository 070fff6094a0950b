import { parse } from "@babel/parser";
import { describe, expect, test } from "vitest";
import { readSources } from "./source-files.ts";

interface Node {
  type: string;
  [field: string]: unknown;
}

const WORDS = 3;

/** Test titles as a failure list shows them, with their suites. */
function readTitles(text: string): string[] {
  const { body } = parse(text, { sourceType: "module", plugins: ["typescript"] }).program;
  return titlesIn(body, "");
}

function titlesIn(node: unknown, suites: string): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => titlesIn(one, suites));
  if (typeof node !== "object" || node === null || !("type" in node)) return [];
  const { kind, title = "" } = readCall(node as Node);
  const around = kind === "describe" ? `${suites}${title} > ` : suites;
  const own = kind === "test" && title !== "" ? [`${suites}${title}`] : [];
  return [...own, ...Object.values(node).flatMap((value) => titlesIn(value, around))];
}

/** Recognises `test("...")`, `describe.each(...)("...")` and similar calls. Placeholders of a template become `x`. */
function readCall(node: Node): { kind?: "test" | "describe"; title?: string } {
  if (node.type !== "CallExpression") return {};
  const [first] = node.arguments as Node[];
  const kind = kindOf(node.callee as Node);
  if (kind === undefined || first === undefined) return {};
  if (first.type === "StringLiteral") return { kind, title: String(first.value) };
  if (first.type !== "TemplateLiteral") return kind === "describe" ? { kind } : {};
  return {
    kind,
    title: (first.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("x"),
  };
}

/** `test.each` itself is called with a table, its result with a title. */
function kindOf(callee: Node): "test" | "describe" | undefined {
  if (callee.type === "Identifier") {
    if (callee.name === "describe") return "describe";
    return callee.name === "test" || callee.name === "it" ? "test" : undefined;
  }
  if (callee.type === "CallExpression") {
    const { object, property } = callee.callee as { object?: Node; property?: Node };
    const takesTable = /^(each|for|skipIf|runIf)$/.test(String(property?.name));
    return object !== undefined && takesTable ? kindOf(object) : undefined;
  }
  if (callee.type !== "MemberExpression") return undefined;
  const { object, property } = callee as unknown as { object: Node; property: Node };
  return /^(concurrent|sequential|skip|only)$/.test(String(property.name)) ? kindOf(object) : undefined;
}

describe("the titles of tests", () => {
  const titles = [...readSources("src"), ...readSources("test")]
    .filter(({ path }) => path.endsWith(".test.ts"))
    .flatMap(({ path, text }) => readTitles(text).map((title) => ({ path, title })));

  test("are found in every form of a test", () => {
    const text = [
      'describe("a box", () => {',
      '  test("opens", () => {});',
      '  it.each([["a", 1]])("shows %s", () => {});',
      "  describe.skipIf(true)(`with ${" + "one}`, () => test.runIf(x)('closes'));",
      "});",
    ].join("\n");
    expect(readTitles(text)).toEqual(["a box > opens", "a box > shows %s", "a box > with x > closes"]);
    expect(titles.length).toBeGreaterThan(2_500);
  });

  test(`have ${WORDS} words or more together with their suites, and no full stop`, () => {
    const poor = titles.filter(
      ({ title }) =>
        title.replaceAll(">", "").split(/\s+/).filter(Boolean).length < WORDS || /\.$|\s{2}/.test(title),
    );
    expect(poor.map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
  });

  test("occur once in their file", () => {
    const known = new Set<string>();
    const twice = titles.filter(({ path, title }) => known.size === known.add(`${path}: ${title}`).size);
    expect(twice.map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
  });
});
