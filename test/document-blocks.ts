import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./source-files.ts";

/** A fenced block of a document. */
export interface DocumentBlock {
  path: string;
  language: string;
  text: string;
  /** Commands that call the gateway. */
  isCall: boolean;
  /** JSON below such commands, in the same section: what the last of them returns. */
  isResponse: boolean;
}

export function readBlocks(path: string): DocumentBlock[] {
  const document = readFileSync(join(ROOT, path), "utf8");
  const blocks: DocumentBlock[] = [];
  let end = 0;
  for (const match of document.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)) {
    const [whole, language = "", text = ""] = match;
    const hasHeadingBetween = /^#/m.test(document.slice(end, match.index));
    const isCall = language === "sh" && /^\s*(\w+=\$\()?curl /m.test(text);
    const isResponse = language === "json" && !hasHeadingBetween && blocks.at(-1)?.isCall === true;
    blocks.push({ path, language, text, isCall, isResponse });
    end = match.index + whole.length;
  }
  return blocks;
}

/** Where two JSON values differ in shape: other fields or other types. Null and an empty list fit anything. */
export function shapeDifferences(shown: unknown, actual: unknown, at = "$"): string[] {
  if (shown === null || actual === null) return [];
  if (Array.isArray(shown) && Array.isArray(actual)) {
    if (shown.length === 0 || actual.length === 0) return [];
    return shapeDifferences(shown[0], actual[0], `${at}[0]`);
  }
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
  [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "2026-11-20T12:00:00.000Z"],
  [/^[0-9A-F]{22}$/, "3EB0C431D2A5F96B7E8812"],
  [/^(\w+_)?[0-9A-Z]{26}$/, "$101M7VZ7A9ZBG8NWRNYBYXP4FZP"],
  [/^data:image\/png;base64,.+$/s, "data:image/png;base64,iVBORw0KGgo..."],
  [/^whsec_.+$/, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  [/^wg_.+$/, "wg_..."],
  [/^sandbox@.+$/, "sandbox@sc1ruU0-pfiowXkZniM3F2rlIfF5P1Fj"],
  [/^http:\/\/127\.0\.0\.1:\d+/, "http://localhost:3000"],
  [/\/link\/.+$/, "/link/cGxlYXNlLXNlbmQtdGhpcy10by10aGUtcGVyc29u"],
];

/** A response as a document shows it: without what differs in every run. */
export function toShownResponse(response: unknown): string {
  const text = JSON.stringify(
    response,
    (_name, value) =>
      typeof value === "string"
        ? SHOWN.reduce((shown, [pattern, to]) => shown.replace(pattern, to), value)
        : value,
    2,
  );
  return `${text}\n`;
}
