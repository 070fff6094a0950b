import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  DEFAULT_EVENTS,
  EVENT_NAMES,
  EXTRA_EVENTS,
  OPERATIONAL_EVENTS,
  STREAM_EVENTS,
} from "../src/features/events/contract.ts";
import { EVENT_PAYLOADS } from "../src/features/events/event-payloads.ts";
import { packageRoot } from "../src/platform/config/package-version.ts";
import { EVENT_TEXTS, FIELD_MEANINGS } from "./event-texts.ts";

type PageName = keyof typeof EVENT_PAYLOADS;

const FOLDER = "docs/reference/events";
const WRITTEN =
  "<!-- Written by `npm run generate` from scripts/event-texts.ts and the payloads in this folder. -->";

/** The page of each event and their index, by path. */
export function eventPages(): Record<string, () => string> {
  const names: PageName[] = [...EVENT_NAMES, ...STREAM_EVENTS];
  const pages = names.map((name) => [`${FOLDER}/${name}.md`, () => eventPage(name)] as const);
  return Object.fromEntries([[`${FOLDER}/README.md`, indexPage] as const, ...pages]);
}

function eventPage(name: PageName): string {
  const { notes = [] } = EVENT_TEXTS[name] ?? {};
  const text = readFileSync(join(packageRoot(), FOLDER, `${name}.json`), "utf8");
  const { data } = JSON.parse(text) as { data: Record<string, unknown> };
  const rows = Object.entries(data).map(
    ([field, value]) => `| \`${field}\` | ${typeOf(value)} | ${meaningOf(name, field)} |`,
  );
  return `# ${name}

${WRITTEN}

Recorded when ${EVENT_PAYLOADS[name].when}.

${[subscriptionOf(name), ...notes].join("\n\n")}

## Payload

\`\`\`json
${text.trim()}
\`\`\`

## Fields of \`data\`

| Field | Type here | Meaning |
|---|---|---|
${rows.join("\n")}

[Events and payloads](README.md#fields-of-every-event) explains the fields around \`data\`.

## Delivery

[Headers](../../guides/webhooks.md#headers) · [verifying the signature](../../guides/verifying-webhooks.md) ·
[retries and order](../../guides/webhooks.md#delivery) · [replay](../../guides/webhooks.md#seeing-and-repeating)
`;
}

function subscriptionOf(name: PageName): string {
  if (isIn(DEFAULT_EVENTS, name)) return "A webhook without a filter receives it.";
  if (isIn(OPERATIONAL_EVENTS, name))
    return "A webhook receives it if `events` has its name, `webhook.*` or `*`. The gateway never reports on deliveries of `webhook.*` events.";
  if (isIn(EXTRA_EVENTS, name))
    return `A webhook receives it only if \`events\` has exactly \`"${name}"\`. The gateway records it only while a webhook subscribes to it.`;
  return "No webhook receives it: [event streams](../../guides/webhooks.md#a-receiver-that-fails) and lists of events show it.";
}

function isIn(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

function meaningOf(name: PageName, field: string): string {
  const meaning = EVENT_TEXTS[name]?.fields?.[field] ?? FIELD_MEANINGS[field];
  if (meaning === undefined)
    throw new Error(`scripts/event-texts.ts has no meaning for data.${field} of ${name}.`);
  return meaning;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}

function indexPage(): string {
  return `# Events and payloads

${WRITTEN}

An event is something that happened to an instance. The gateway records it once. It delivers the event to every
webhook that subscribes to it, with the same bytes at every attempt. The page of an event shows a tested payload.

## Events of a webhook without a filter

${tableOf(DEFAULT_EVENTS)}

## Reports of deliveries

The gateway records them only while a webhook subscribes to them, by name, by \`webhook.*\` or by \`*\`.

${tableOf(OPERATIONAL_EVENTS)}

## Events by their exact names

A webhook receives one of these only if \`events\` has its exact name. \`*\`, \`message.*\` and \`instance.*\` leave them out.

${tableOf(EXTRA_EVENTS)}

## In streams and lists only

${tableOf(STREAM_EVENTS)}

## Fields of every event

| Field | Has |
|---|---|
| \`event_id\` | the same at every attempt; store it to recognise a repetition |
| \`event\` | name of the event |
| \`tenant_id\`, \`instance_id\` | \`tenant_<account>\`, \`inst_<instance>\` |
| \`timestamp\` | when it was recorded, ISO 8601 in UTC |
| \`source\`, \`version\` | \`Waygate\` and the version of this format |
| \`sequence\` | counts the events of the instance without gaps |
| \`account_id\` | id of the account |
| \`instance\` | id, name, phone and metadata of the instance at that time |
| \`data\` | what the page of the event describes |

A body has at most 256 KiB. In a larger one, the gateway shortens the longest texts and lists and sets
\`"truncated": true\`. A body never contains files.

## Fields of a message

The payloads show every field of a message. These are null or empty in most messages:

| Field | Has |
|---|---|
| \`choice\` | the reply to buttons, a list or a form: \`id\` of the button or row, \`params\` with the JSON of a form |
| \`ad\` | the advertisement from which the contact began to write; \`ctwa_clid\` is Meta's id of the click |
| \`is_forwarded\`, \`forwarding_score\` | whether and how often the message was forwarded |
| \`group_invite\` | the group and the code of an invitation |
| \`contacts\` | the first 50 contact cards of the message; after the first, cards larger than 64 Ki characters are left out |
| \`quoted.content\` | what the message quotes, unless that is a text |

## For your tests

[signature-vectors.json](signature-vectors.json) has genuine and hostile requests for a verifier of your own;
[verifying webhooks](../../guides/verifying-webhooks.md) explains them and has verifiers for four languages. The folders
\`evolution\`, \`uazapi\` and \`waha\` hold the same events in the [format of another gateway](../../start/migration.md).
`;
}

function tableOf(names: readonly PageName[]): string {
  const rows = names.map((name) => `| [\`${name}\`](${name}.md) | ${EVENT_PAYLOADS[name].when} |`);
  return ["| Event | Recorded when |", "|---|---|", ...rows].join("\n");
}
