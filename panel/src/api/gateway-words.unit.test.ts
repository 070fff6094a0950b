import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTranslator } from "use-intl";
import { expect, test } from "vitest";
import { z } from "zod";
import { ATTENTION_MESSAGES } from "../../../src/core/instances/attention-of.ts";
import { SEND_ERROR, undelivered } from "../../../src/core/messages/send/send-error.ts";
import { DISCARDED } from "../../../src/extensions/backups/held-jobs.ts";
import { CHATWOOT_CODES } from "../../../src/extensions/integrations/chatwoot/chatwoot-error.ts";
import { PAIRING_ERROR_CODES, pairingError } from "../../../src/network/whatsapp/pairing/pairing-error.ts";
import { messageErrorReasonOf, NOT_IN_GROUP } from "../../../src/network/whatsapp/wire/whatsapp-error.ts";
import { ERROR_CODES } from "../../../src/platform/error-codes.ts";
import { createIssueDescriber } from "../../../src/platform/http/input/describe-issue.ts";
import { FETCH_FAILURES } from "../../../src/platform/outgoing/classify-fetch-failure.ts";
import { ROOT } from "../../../test/source-files.ts";
import { alerts } from "../i18n/messages/en/alerts.ts";
import { faults as en, faults } from "../i18n/messages/en/faults.ts";
import { integrations } from "../i18n/messages/en/integrations.ts";
import { pairing } from "../i18n/messages/en/pairing.ts";
import { faults as es } from "../i18n/messages/es/faults.ts";
import {
  type IssueKind,
  needsDetail,
  readIssue,
  readSendReason,
  SEND_REASONS,
  splitReason,
} from "./gateway-words.ts";

test.each([
  ['contains "*" (U+002A), which is not part of a phone number', "sign", '"*" (U+002A)', ""],
  [
    "can be +51987654321, or +5551987654321 in BR. Write it with + and the country code",
    "ambiguous",
    "+51987654321",
    "+5551987654321",
  ],
  [
    "can be +20240115001, or 2024-01-15. If it is a phone number, write it with + and the country code",
    "ambiguous",
    "+20240115001",
    "2024-01-15",
  ],
  [
    'is not a number of the country "example.com". Write it with + and the country code',
    "context",
    "example.com",
    "",
  ],
  ["must have 7 to 15 digits, with country and area code", "digits", "7", "15"],
  ["names the same lead as line 3", "twice", "3", ""],
  ["must be a time in ISO 8601, such as 2026-01-31T12:00:00Z", "moment", "", ""],
  ["is empty", "empty", "", ""],
  ["is required, or the id of a lead", "required", "", ""],
  ["is longer than 64 characters", "long", "64", ""],
  ["must be a whole number from 0 to 3600 or null", "wholeRange", "0", "3600"],
  ["must be one of S, M, L", "oneOf", "S, M, L", ""],
  ["The receiver responded with 500.", "receiver", "500", ""],
  ["No delivery has succeeded for 5 days.", "silent", "5", ""],
])("the panel knows the issue %s", (text, kind, a, b) => {
  expect(readIssue(text)).toEqual({ kind, a, b });
});

test("the panel does not guess at an issue that it does not know", () => {
  expect(readIssue("is not a JID")).toBeUndefined();
});

test("a reason is split into its field and its issue", () => {
  expect(splitReason("custom_fields.size: must be a number")).toEqual({
    field: "custom_fields.size",
    issue: "must be a number",
  });
  expect(splitReason("The webhook: gone")).toEqual({ field: undefined, issue: "The webhook: gone" });
});

test("an issue in words has one full stop, and none that stands for a sign", () => {
  const t = createTranslator({ locale: "es", messages: es, namespace: "faults" });
  expect(t("issues.noNumber")).not.toMatch(/\.$/);
  expect(t("issues.twice", { a: "3" })).toBe("es el mismo contacto que el de la línea 3");
});

/** Codes of calls that the panel never makes. */
const ELSEWHERE = [
  "IDEMPOTENCY_MISMATCH",
  "HEADERS_TOO_LARGE",
  "METHOD_NOT_ALLOWED",
  "PASSWORD_REQUIRED",
  "ROUTE_NOT_FOUND",
];

test("every code of the gateway has a sentence", () => {
  const known = Object.keys(en.faults.codes);
  expect(
    Object.keys(ERROR_CODES)
      .filter((code) => !known.includes(code))
      .sort(),
  ).toEqual(ELSEWHERE.sort());
});

test("a thing that does not exist needs no words of the gateway, and a conflict does", () => {
  expect([needsDetail("NOT_FOUND"), needsDetail("CONFLICT")]).toEqual([false, true]);
});

/** What the gateway says of a value that a schema refuses. */
function issueOf(schema: z.ZodType, value: unknown): string | undefined {
  return schema.safeParse(value, { error: createIssueDescriber() }).error?.issues[0]?.message;
}

const seconds = z.number().int().min(0).max(3600);

/** Sentences that the gateway makes of a schema. */
const MADE: readonly (readonly [kind: IssueKind, schema: z.ZodType, value: unknown])[] = [
  ["long", z.string().max(3), "four"],
  ["short", z.string().min(12), "four"],
  ["empty", z.string().min(1), ""],
  ["wholeRange", seconds, 9000],
  ["wholeRange", seconds.nullable(), "x"],
  ["wholeLeast", z.number().int().min(1), 0],
  ["whole", z.number().int(), "x"],
  ["range", z.number().min(0).max(1), 2],
  ["least", z.number().min(1), 0],
  ["number", z.number(), "x"],
  ["url", z.url(), "x"],
  ["email", z.email(), "x"],
  ["moment", z.iso.datetime(), "x"],
  ["date", z.iso.date(), "x"],
  ["flag", z.boolean(), "x"],
  ["entriesMost", z.array(z.string()).max(1), ["a", "b"]],
  ["format", z.string().regex(/^a$/), "b"],
  ["invalid", z.custom(() => false), 1],
];

test.each(MADE)("the panel knows the gateway's own sentence for the issue %s", (kind, schema, value) => {
  const sentence = issueOf(schema, value) ?? "";
  expect([sentence, readIssue(sentence)?.kind]).toEqual([sentence, kind]);
});

const FOLD = "src/platform/phone/fold-phone-text.ts";
const READ = "src/platform/phone/read-phone-number.ts";
const DIGITS = "src/platform/phone/problem-of-digits.ts";

/** Sentences that stand in a source, with # for each value. */
const WRITTEN: readonly (readonly [kind: IssueKind, path: string, text: string])[] = [
  ["sign", FOLD, "contains # (#), which is not part of a phone number"],
  ["spreadsheet", FOLD, "was changed by a spreadsheet such as Excel"],
  ["several", FOLD, "contains more than one phone number"],
  ["noNumber", FOLD, "is not a phone number"],
  ["impossible", DIGITS, "is not a number of any country"],
  ["context", READ, "is not a number of the country #"],
  ["ambiguous", READ, "can be +#, or +# in #"],
  ["ambiguous", READ, "can be +#, or #. If it is a phone number"],
  ["digits", DIGITS, "must have # to # digits, with country and area code"],
  ["country", DIGITS, "has no country code. Send it in international format"],
  ["twice", "src/extensions/crm/lead-importer.ts", "names the same lead as line #"],
  ["moment", "src/extensions/campaigns/contract.ts", "must be a moment such as 2026-11-20T12:00:00Z"],
  ["emptyFile", "src/extensions/sandbox/to-content.ts", "the file is empty"],
  ["empty", "src/core/messages/send/prepare/read-media.ts", "is empty"],
  ["required", "src/platform/http/input/invalid-input.ts", "is required"],
  ["required", "src/extensions/crm/lead-handlers.ts", "is required: name at least one tag"],
  ["oneOf", "src/extensions/integrations/contract.ts", "must be one of #"],
  ["cells", "src/platform/text/csv-table.ts", "has more cells than the first line, which has #"],
  ["quotes", "src/platform/text/csv-table.ts", "is not a line of CSV: check its quotation marks"],
  ["decimal", "src/extensions/crm/merge-fields.ts", "must be a number such as 1.5"],
  ["contactId", "src/extensions/crm/read-lead-file.ts", "must be the id of a lead"],
  ["receiver", "src/core/webhooks/decide-attempt.ts", "The receiver responded with #."],
  ["silent", "src/core/webhooks/disable-webhook.ts", "No delivery has succeeded for 5 days."],
  ["starting", "src/core/webhooks/decide-attempt.ts", "n8n was starting, so it responded with 200"],
];

test.each(WRITTEN)("the panel knows the sentence for the issue %s in %s", (kind, path, text) => {
  const source = readFileSync(join(ROOT, path), "utf8").replace(/\$\{[^}]{1,40}\}/g, "#");
  expect(source).toContain(text);
  expect(readIssue(text.replaceAll("#", "3"))?.kind).toBe(kind);
});

test("each issue that the panel knows is a sentence of the gateway", () => {
  const proved = new Set<string>([...MADE, ...WRITTEN].map(([kind]) => kind));
  expect(Object.keys(faults.faults.issues).filter((kind) => !proved.has(kind))).toEqual(["other"]);
});

const REASONS = [
  ...Object.values(SEND_ERROR).map(({ message }) => message),
  ...[400, 401, 403, 404, 406, 410, 429, 479, 500].map((number) => messageErrorReasonOf(String(number))),
  NOT_IN_GROUP.reason,
  DISCARDED.message,
  undelivered(1, "Socket closed.").message,
  undelivered(5, "Socket closed.").message,
];

test("the panel knows why a message was not sent, by the gateway's own sentences", () => {
  const unknown = REASONS.filter((text) => readSendReason(text) === undefined);
  expect(unknown).toEqual([SEND_ERROR.sandboxOff.message]);
  const known = new Set(REASONS.map((text) => readSendReason(text)?.kind));
  const kinds = [...Object.values(SEND_REASONS), "undelivered", "undeliveredOnce"];
  expect(kinds.filter((kind) => !known.has(kind as never))).toEqual([]);
  expect(Object.keys(faults.faults.reasons).sort()).toEqual([...new Set(kinds)].sort());
  expect(readSendReason(messageErrorReasonOf("479"))).toMatchObject({ kind: "malformed", number: "479" });
  expect(readSendReason(undelivered(5, "x").message)).toMatchObject({
    kind: "undelivered",
    attempts: "5",
    cause: "x",
  });
});

test("the panel knows each code of an integration's error", () => {
  const sources = [
    "n8n/read-workflow-response.ts",
    "typebot/explain-typebot-response.ts",
    "typebot/bot-client.ts",
    "chatwoot/chatwoot-error.ts",
  ].map((path) => readFileSync(join(ROOT, "src/extensions/integrations", path), "utf8"));
  const own = sources.flatMap((text) =>
    [...text.matchAll(/"((?:n8n|typebot)_[a-z_]{1,30})"/g)].map(([, code]) => code),
  );
  const known = Object.keys(integrations.integrations.problem);
  const ofChatwoot = [...CHATWOOT_CODES].map((reason) => `chatwoot_${reason}`);
  expect([...new Set([...own, ...ofChatwoot, ...FETCH_FAILURES, "status"])].sort()).toEqual(known.sort());
});

test("the English words for a failed pairing and a demand of the network are the gateway's own", () => {
  const own = PAIRING_ERROR_CODES.map((code) => {
    const { message, action } = pairingError(code);
    return [code, { message, action: action.replace("`retry_at`", "{time}") }];
  });
  expect(pairing.pairing).toEqual(Object.fromEntries(own));
  expect(alerts.alerts.attention).toEqual(ATTENTION_MESSAGES);
});
