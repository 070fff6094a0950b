import { expect, test } from "vitest";
import { newDraft, toDraft, toHeaders, toWebhookInput } from "./webhook-draft.ts";
import type { Webhook } from "./webhooks-queries.ts";

test("headers are read from lines, with their values to the end", () => {
  expect(toHeaders("Authorization: Bearer a:b\n\n X-Shop :7 \nempty")).toEqual({
    Authorization: "Bearer a:b",
    "X-Shop": "7",
    empty: "",
  });
});

test("a saved webhook that nobody changes gives the same fields, with its secrets masked", () => {
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
