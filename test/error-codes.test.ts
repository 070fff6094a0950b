import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PAIRING_ERROR_CODES } from "../src/network/whatsapp/pairing/pairing-error.ts";
import { ERROR_CODES, MESSAGE_ERROR_CODES, TOOL_ERROR_CODES } from "../src/platform/error-codes.ts";
import { listFiles, ROOT } from "./source-files.ts";

const PAGE = readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8");
const onPage = new Set([...PAGE.matchAll(/^\|`(\w+)`\|/gm)].map(([, code = ""]) => code));

const TEXTS = { ...ERROR_CODES, ...MESSAGE_ERROR_CODES, ...TOOL_ERROR_CODES };

test("the page on errors explains every code of responses, failed messages and pairings", () => {
  const codes = [...Object.keys(TEXTS), ...PAIRING_ERROR_CODES];
  expect(codes.filter((code) => !onPage.has(code))).toEqual([]);
  for (const { meaning, advice } of Object.values(TEXTS))
    for (const text of [meaning, advice]) expect(text).toMatch(/^[A-Z`].{20,}\.$/);
});

test("every error code in the sources, also as text in SQL, is on the page on errors", () => {
  const sources = listFiles("src").filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
  const written = sources.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return [...text.matchAll(/(?:\bcode"?: |new GatewayError\(\s*)"([A-Z][A-Z_]+)"/g)].map(
      ([, code = ""]) => code,
    );
  });
  expect(new Set(written).size).toBeGreaterThan(20);
  expect([...new Set(written)].filter((code) => !onPage.has(code))).toEqual([]);
});
