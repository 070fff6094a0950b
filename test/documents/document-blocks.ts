import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../source-files.ts";

/** A fenced code block. */
export interface DocumentBlock {
  path: string;
  language: string;
  text: string;
  /** Offsets in the document. */
  start: number;
  end: number;
  /** Commands that call the gateway. */
  isCall: boolean;
  /** Output of the commands above it, in the same section. */
  isResponse: boolean;
}

const RESPONSE_LANGUAGES = ["json", "http", "csv"];

export function readBlocks(path: string): DocumentBlock[] {
  const document = readFileSync(join(ROOT, path), "utf8");
  const blocks: DocumentBlock[] = [];
  for (const match of document.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)) {
    const [whole, language = "", text = ""] = match;
    const last = blocks.at(-1);
    const hasHeadingBetween = /^#/m.test(document.slice(last?.end, match.index));
    const isCall = language === "sh" && /^\s*(\w+=\$\()?curl /m.test(text);
    const isBelowCall = !hasHeadingBetween && (last?.isCall === true || last?.isResponse === true);
    const isResponse = RESPONSE_LANGUAGES.includes(language) && isBelowCall;
    const end = match.index + whole.length;
    blocks.push({ path, language, text, start: match.index, end, isCall, isResponse });
  }
  return blocks;
}

/** Commands with the responses below them. */
export interface Example {
  call: DocumentBlock;
  responses: DocumentBlock[];
}

export function readExamples(blocks: readonly DocumentBlock[]): Example[] {
  const examples: Example[] = [];
  for (const block of blocks) {
    if (block.isCall) examples.push({ call: block, responses: [] });
    else if (block.isResponse) examples.at(-1)?.responses.push(block);
  }
  return examples;
}

/** Output of a command, in the language of the block that shows it. */
export interface Printed {
  language: string;
  text: string;
}

/** A line of JSON, or a status line with headers and body, is a response. Other lines are CSV. */
export function readPrinted(output: string): Printed[] {
  const printed: Printed[] = [];
  const pattern = /^(HTTP\/1\.1 [\s\S]*?\r\n\r\n)?(\{.*)$|^([^\r\n]+)$/gm;
  for (const [, head, body = "", other] of output.matchAll(pattern)) {
    const last = printed.at(-1);
    if (head !== undefined) printed.push({ language: "http", text: head.replaceAll("\r", "") + body });
    else if (other === undefined) printed.push({ language: "json", text: body });
    else if (last?.language === "csv") last.text += `\n${other}`;
    else printed.push({ language: "csv", text: other });
  }
  return printed;
}

/** Differences in shape between the documented and the actual response. */
export function responseDifferences(shown: DocumentBlock, actual: Printed | undefined): string[] {
  if (actual === undefined) return [`no response, the document shows ${shown.text}`];
  if (shown.language !== actual.language)
    return [`the response is ${actual.language}, the document shows ${shown.language}`];
  if (shown.language === "json") return shapeDifferences(JSON.parse(shown.text), JSON.parse(actual.text));
  if (shown.language === "http") return httpDifferences(shown.text, actual.text);
  const [columns, found] = [shown, actual].map(({ text }) => text.split("\n", 1)[0]?.trim());
  return columns === found ? [] : [`the columns are ${found}, the document shows ${columns}`];
}

function httpDifferences(shown: string, actual: string): string[] {
  const [one, other] = [shown, actual].map((text) => {
    const [head = "", body = ""] = text.split("\n\n", 2);
    const [status, ...headers] = head.split("\n");
    const names = headers.map((line) => line.split(":", 1)[0]?.toLowerCase());
    return { status, names, body: JSON.parse(body) };
  });
  if (!one || !other) return [];
  return [
    ...(one.status === other.status ? [] : [`the status is ${other.status}, not ${one.status}`]),
    ...one.names.filter((name) => !other.names.includes(name)).map((name) => `the header ${name} is missing`),
    ...shapeDifferences(one.body, other.body),
  ];
}

/** Fields whose value counts by name, such as the rows of each table. */
const COUNTS = /\.(rows|affected)$/;

/** Differences in fields or types. Null and an empty list match anything. */
export function shapeDifferences(shown: unknown, actual: unknown, at = "$"): string[] {
  if (shown === null || actual === null) return [];
  if (COUNTS.test(at) && isObject(shown) && isObject(actual)) {
    const values = [...Object.values(shown), ...Object.values(actual)];
    return values.every((value) => typeof value === "number") ? [] : [`${at} counts nothing`];
  }
  if (Array.isArray(shown) && Array.isArray(actual))
    return shown
      .slice(0, actual.length)
      .flatMap((item, index) => shapeDifferences(item, actual[index], `${at}[${index}]`));
  if (isObject(shown) && isObject(actual)) {
    const names = new Set([...Object.keys(shown), ...Object.keys(actual)]);
    return [...names].flatMap((name) => {
      if (!(name in actual)) return [`${at}.${name} is not in the response`];
      if (!(name in shown)) return [`${at}.${name} is not in the document`];
      return shapeDifferences(shown[name], actual[name], `${at}.${name}`);
    });
  }
  const [one, other] = [shown, actual].map((value) => (Array.isArray(value) ? "list" : typeof value));
  return one === other ? [] : [`${at} is ${one} in the document, ${other} in the response`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SHOWN: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-11-20T12:00:00.000Z"],
  [/\b[0-9A-F]{22}\b/g, "3EB0C431D2A5F96B7E8812"],
  [/\b([a-z]+_)?[0-9A-Z]{26}\b/g, "$101M7VZ7A9ZBG8NWRNYBYXP4FZP"],
  [/^data:image\/png;base64,.+$/s, "data:image/png;base64,iVBORw0KGgo..."],
  [/\bwhsec_[\w+/=]+/g, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  [/\bwg_\w+/g, "wg_..."],
  [/^eyJ[\w.-]+$/, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..."],
  [/^1\.[\w-]{8}\.[\w-]{22}\.[\w-]{43}$/, "1.mwsjrwg0.q83vEjRWeJq83vASNFZ4mg.yk0WJ4zHq2c7Xn..."],
  [/^sandbox@.+$/, "sandbox@sc1ruU0-pfiowXkZniM3F2rlIfF5P1Fj"],
  [/\/link\/.+$/, "/link/cGxlYXNlLXNlbmQtdGhpcy10by10aGUtcGVyc29u"],
];

/** Headers that documents show. */
const SHOWN_HEADERS = /^(HTTP\/|retry-after:|ratelimit|idempotent-replayed:)/i;

/** Documented entries of a list of objects or counts. */
const MAX_ENTRIES = 2;

/** A response for a document: without values that change in each run, with long lists shortened. */
export function toShownResponse({ language, text }: Printed): string {
  const show = (value: string) => SHOWN.reduce((shown, [from, to]) => shown.replace(from, to), value);
  if (language === "csv") return `${show(text)}\n`;
  const body = text.slice(text.indexOf("{"));
  const headers = text.slice(0, -body.length).split("\n");
  const head = headers.filter((line) => SHOWN_HEADERS.test(line)).join("\n");
  const shown = JSON.stringify(
    JSON.parse(body),
    (name, value) => {
      if (typeof value === "string") return name === "password" ? "..." : show(value);
      if (COUNTS.test(`.${name}`)) return Object.fromEntries(Object.entries(value).slice(0, MAX_ENTRIES));
      return Array.isArray(value) && isObject(value[0]) ? value.slice(0, MAX_ENTRIES) : value;
    },
    2,
  );
  return `${head && `${head}\n\n`}${shown}\n`;
}
