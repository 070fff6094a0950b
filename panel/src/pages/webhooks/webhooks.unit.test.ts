import { expect, test } from "vitest";
import { EVENT_NAMES } from "../../../../src/core/events/contract.ts";
import { expandEvents } from "../../../../src/core/webhooks/contract.ts";
import { checkSignature } from "../../gateway/check-signature.ts";
import { readAllPages } from "./deliveries/read-all-pages.ts";
import { ALL_EVENTS, toSingleEvents } from "./event-groups.ts";
import { failureKindOf } from "./explain-failure.ts";
import { readAttemptFilter, readEventFilter, readPeriod } from "./filters.ts";
import { newDraft, toDraft, toHeaders, toWebhookInput } from "./webhook-draft.ts";
import type { Webhook } from "./webhooks-queries.ts";

const failed = (status_code: number | null, error_class: string | null) =>
  failureKindOf({ success: false, status_code, error_class });

test("a failure without a response is explained by its error class, and an unknown one as unknown", () => {
  expect(failed(null, "dns")).toBe("dns");
  expect(failed(null, "timeout_total")).toBe("timeout_total");
  expect(failed(null, "rejected")).toBe("rejected");
  expect(failed(null, "something new")).toBe("unknown");
});

test("a failure with a response is explained by its status", () => {
  const kinds = [200, 302, 401, 403, 404, 405, 410, 413, 418, 429, 500, 502, 503].map((status) =>
    failed(status, "status"),
  );
  expect(kinds).toEqual([
    "starting",
    "redirect",
    "unauthorised",
    "unauthorised",
    "notFound",
    "method",
    "gone",
    "large",
    "refusal",
    "busy",
    "crash",
    "crash",
    "busy",
  ]);
});

test("headers are read from lines, with their values to the end", () => {
  expect(toHeaders("Authorization: Bearer a:b\n\n X-Shop :7 \nempty")).toEqual({
    Authorization: "Bearer a:b",
    "X-Shop": "7",
    empty: "",
  });
});

test("a saved webhook passes through its form unchanged, with its secrets masked", () => {
  const saved = {
    name: "Shop",
    url: "https://example.com/hook",
    events: ["message.received"],
    exclude: ["groups"],
    ordering: "strict",
    retry_enabled: true,
    max_attempts: 4,
    headers: { authorization: "****" },
    format: "waha",
    format_token: "****",
  } as unknown as Webhook;
  const { name, url, max_attempts, headers, format_token, ...choices } = toDraft(saved);
  const texts = { name, url, max_attempts, headers, format_token };
  expect(toWebhookInput({ ...newDraft(), ...choices }, texts)).toEqual(saved);
});

test("the panel offers every event that a webhook can get, each once", () => {
  expect([...ALL_EVENTS].sort()).toEqual([...EVENT_NAMES].sort());
});

test.each([[[]], [["*"]], [["message.*", "call.received"]], [["webhook.*"]], [["media.ready"]]])(
  "the filter %j selects the same events in the panel as in the gateway",
  (filter) => {
    expect(toSingleEvents(filter).sort()).toEqual(expandEvents(filter).sort());
  },
);

test("an export has the rows of all pages, in their order", async () => {
  const asked: unknown[] = [];
  const { rows, isCut } = await readAllPages(async (cursor) => {
    asked.push(cursor);
    const isLast = "cursor" in cursor;
    return { data: isLast ? [3] : [1, 2], pagination: { next_cursor: isLast ? null : "next" } };
  });
  expect({ rows, isCut, asked }).toEqual({ rows: [1, 2, 3], isCut: false, asked: [{}, { cursor: "next" }] });
});

test("an export of an endless list ends at its limit, and says that it is cut", async () => {
  const data = new Array<number>(3_000).fill(1);
  const { rows, isCut } = await readAllPages(async () => ({ data, pagination: { next_cursor: "more" } }));
  expect({ count: rows.length, isCut }).toEqual({ count: 10_000, isCut: true });
});

test("a filter in the URL keeps valid values", () => {
  const common = { event: "message.received", webhook: 3, from: "2026-01-31T12:00:00.000Z" };
  expect(readEventFilter({ ...common, webhook: "3", from: "2026-01-31T12:00Z", state: "failed" })).toEqual({
    ...common,
    state: "failed",
  });
  expect(readAttemptFilter({ ...common, result: "failed", status: 503 })).toEqual({
    ...common,
    result: "failed",
    status: 503,
  });
  expect(readPeriod({ period: "week" })).toEqual({ period: "week" });
});

test("a filter in the URL ignores everything else", () => {
  const bad = {
    event: "<b>",
    webhook: -1,
    from: "yesterday",
    to: "x".repeat(99),
    state: 7,
    status: 42,
    result: {},
  };
  expect(readEventFilter(bad)).toEqual({});
  expect(readAttemptFilter(bad)).toEqual({});
  expect(readPeriod({ period: "year" })).toEqual({});
});

/** The example of the page "Verifying webhooks". */
const CLAIM = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"text":"Olá, Bia 👋 — 請"}',
  eventId: "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP",
  timestamp: "1795176001",
  signature: "",
};
const BODY = "sha256=edbdd58a77f95b1dfedc90c58c009c732000c35d4216c2919bce05ecde5f8174";
const STANDARD = "v1,iP+1yYySr5/I+EwF62O3jJCJxN/CqEvFsMdhXA8fM6E=";

test("both signatures of a published example are computed", async () => {
  expect(await checkSignature(CLAIM)).toEqual({ body: BODY, standard: STANDARD, isGenuine: undefined });
});

test.each([BODY, STANDARD, `v1,AAAA ${STANDARD}`, ` ${BODY}\n`])(
  "the genuine signature %s is recognised",
  async (signature) => {
    expect(await checkSignature({ ...CLAIM, signature })).toMatchObject({ isGenuine: true });
  },
);

test("a signature with another secret, and one of a changed body, are refused", async () => {
  const secret = "whsec_c2VjcmV0LW9mLXRoZS1kZWxpdmVyeS1zdG9yeS0xMjM0NTY3OA==";
  expect(await checkSignature({ ...CLAIM, secret, signature: BODY })).toMatchObject({ isGenuine: false });
  const body = `${CLAIM.body} `;
  expect(await checkSignature({ ...CLAIM, body, signature: STANDARD })).toMatchObject({ isGenuine: false });
});

test.each(["sha256=", BODY.slice(0, -2), BODY.replace("sha256", "md5"), STANDARD.slice(0, -2)])(
  "the incomplete signature %s is refused",
  async (signature) => {
    expect(await checkSignature({ ...CLAIM, signature })).toMatchObject({ isGenuine: false });
  },
);

test("a standard signature without its timestamp is neither accepted nor refused", async () => {
  const check = await checkSignature({ ...CLAIM, timestamp: "", signature: STANDARD });
  expect(check).toEqual({ body: BODY, standard: undefined, isGenuine: undefined });
});
