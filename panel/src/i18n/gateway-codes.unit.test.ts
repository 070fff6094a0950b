import { describe, expect, test } from "vitest";
import { ATTENTION_MESSAGES } from "../../../src/core/instances/attention-of.ts";
import { INTEGRATION_REASONS } from "../../../src/extensions/integrations/integration-reasons.ts";
import { PAIRING_ERROR_CODES, pairingError } from "../../../src/network/whatsapp/pairing/pairing-error.ts";
import { DELIVERY_REASONS } from "../../../src/platform/delivery-reasons.ts";
import { ERROR_CODES } from "../../../src/platform/error-codes.ts";
import { ISSUE_CODES, type ReasonTable } from "../../../src/platform/issue-codes.ts";
import { SEND_REASONS } from "../../../src/platform/send-reasons.ts";
import { alerts } from "./messages/en/alerts.ts";
import { errors as en } from "./messages/en/errors.ts";
import { integrations as ofEnglish } from "./messages/en/integrations.ts";
import { pairing } from "./messages/en/pairing.ts";
import { errors as es } from "./messages/es/errors.ts";
import { integrations as ofSpanish } from "./messages/es/integrations.ts";
import { errors as ptBr } from "./messages/pt-br/errors.ts";
import { integrations as ofPortuguese } from "./messages/pt-br/integrations.ts";

type Texts = Readonly<Record<string, string>>;

/** The placeholders of a text, each once; `#` is that of a plural. */
function placeholdersOf(text: string): string[] {
  const found = [...text.matchAll(/\{(\w+)(?:\}|, plural,)/g)].map(([, name]) => String(name));
  return [...new Set(found)].sort();
}

function paramsOf(table: ReasonTable): Record<string, string[]> {
  const entries = Object.entries(table).map(([code, params]) => [code, [...params].sort()] as const);
  return Object.fromEntries(entries);
}

const needsOf = (texts: Texts) =>
  Object.fromEntries(Object.entries(texts).map(([code, text]) => [code, placeholdersOf(text)]));

describe.each([
  ["English", en.errors, ofEnglish.integrations.problem],
  ["Spanish", es.errors, ofSpanish.integrations.problem],
  ["Portuguese", ptBr.errors, ofPortuguese.integrations.problem],
])("in %s", (_, errors, problems) => {
  test("every issue code has a text with its params", () => {
    expect(needsOf(errors.issues)).toEqual(paramsOf(ISSUE_CODES));
  });

  test("every reason of a failed message has a text with its params", () => {
    expect(needsOf(errors.reasons)).toEqual(paramsOf(SEND_REASONS));
  });

  test("the texts of a disabled webhook belong to delivery reasons and use their params", () => {
    expect(paramsOf(DELIVERY_REASONS)).toMatchObject(needsOf(errors.disabled));
  });

  test("every reason of a failed integration has a text", () => {
    expect(Object.keys(problems).sort()).toEqual(Object.keys(INTEGRATION_REASONS).sort());
  });
});

/** Codes of routes that the panel does not use. */
const ELSEWHERE = [
  "HEADERS_TOO_LARGE",
  "IDEMPOTENCY_MISMATCH",
  "METHOD_NOT_ALLOWED",
  "PASSWORD_REQUIRED",
  "ROUTE_NOT_FOUND",
];

test("every error code has a text", () => {
  const silent = Object.keys(ERROR_CODES).filter((code) => !(code in en.errors.codes));
  expect(silent.sort()).toEqual(ELSEWHERE);
});

test("the text of an issue has no full stop, because a sentence may continue after it", () => {
  const texts = [en, es, ptBr].flatMap(({ errors }) => Object.values<string>(errors.issues));
  expect(texts.filter((text) => text.endsWith("."))).toEqual([]);
});

test("the English texts of failed pairings and required actions are the gateway's own", () => {
  const own = PAIRING_ERROR_CODES.map((code) => {
    const { message, action } = pairingError(code);
    return [code, { message, action: action.replace("`retry_at`", "{time}") }];
  });
  expect(pairing.pairing).toEqual(Object.fromEntries(own));
  expect(alerts.alerts.attention).toEqual(ATTENTION_MESSAGES);
});
