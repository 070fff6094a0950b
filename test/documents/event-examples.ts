import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { formatOpenApi } from "../../scripts/openapi/format-openapi.ts";
import { eventExample } from "../../src/core/events/event-example.ts";
import type { PageName } from "../../src/extensions/public-pages/event-texts.ts";
import { ROOT } from "../source-files.ts";

/** `UPDATE_GOLDEN=1 npx vitest run src/core/events --no-file-parallelism` rewrites the examples of openapi.json. */
const isUpdate = process.env.UPDATE_GOLDEN === "1";

/** Compares the body with the published example, except for values that change in each run. */
export function expectExample(event: PageName, body: unknown): void {
  const shown = normalise(body);
  if (isUpdate)
    updateDescription(({ webhooks }) => {
      if (webhooks[event]) webhooks[event].post.requestBody.content["application/json"].example = shown;
    });
  expect(JSON.stringify(eventExample(event), null, 2)).toBe(JSON.stringify(shown, null, 2));
}

function normalise(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (key, value) => stable(key, value)));
}

const NUMBERS: Record<string, number> = {
  sequence: 4812,
  account_id: 3,
  webhook_id: 5,
  // The receipts of a campaign arrive at any time.
  total: 240,
  sent: 240,
  delivered: 236,
  read: 112,
};
const TEXTS: readonly [RegExp, string][] = [
  [/^evt_[0-9A-Z]{26}$/, "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP"],
  [/^tenant_\d+$/, "tenant_3"],
  [/^inst_\d+$/, "inst_17"],
  [/^med_\w{32}$/, "med_9f8f3b1c6d5e4a7b8c9d0e1f2a3b4c5d"],
  [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "2026-11-20T12:00:00.000Z"],
  [
    /^\/api\/v1\/instances\/\d+\/media\/med_\w{32}$/,
    "/api/v1/instances/17/media/med_9f8f3b1c6d5e4a7b8c9d0e1f2a3b4c5d",
  ],
  [/^data:image\/png;base64,.+$/, "data:image/png;base64,iVBORw0KGgo..."],
  [/^sandbox@.+$/, "sandbox@sc1ruU0-pfiowXkZniM3F2rlIfF5P1Fj"],
  [/^http:\/\/127\.0\.0\.1:\d+\/hook$/, "https://example.com/hook"],
  [/^\d+@g\.us$/, "120363041234567890@g.us"],
];
const MESSAGE_ID = "3EB0C431D2A5F96B7E8812";

function stable(key: string, value: unknown): unknown {
  if (typeof value === "number") return NUMBERS[key] ?? value;
  if (key === "message_ids") return [MESSAGE_ID];
  if (key === "message_id" || key === "pendingMessageId" || key === "answer_message_id") return MESSAGE_ID;
  if (key === "ask_id") return "ask_981";
  if (key === "call_id") return "92FF06434E39EA9B468C7E9CEFD623D3";
  if (key === "jobId") return "01M7VZ7A9ZBG8NWRNYBYXP4FZP";
  if (isNumbered(key, value)) return { ...value, id: NUMBER_OF[key] };
  if (typeof value !== "string") return value;
  return TEXTS.find(([pattern]) => pattern.test(value))?.[1] ?? value;
}

const NUMBER_OF: Record<string, number> = { instance: 17, message: 981, conversation: 44, campaign: 8 };

function isNumbered(key: string, value: unknown): value is { id: number } {
  return key in NUMBER_OF && typeof value === "object" && value !== null;
}

const FILE = join(ROOT, "openapi.json");

// biome-ignore lint/suspicious/noExplicitAny: a test changes what it needs of the description
type Description = any;

/** Rewrites openapi.json, which holds the examples. */
export function updateDescription(change: (description: Description) => void): void {
  const description = JSON.parse(readFileSync(FILE, "utf8"));
  change(description);
  writeFileSync(FILE, formatOpenApi(description));
}
