import { DEFAULT_EVENTS, EXTRA_EVENTS, OPERATIONAL_EVENTS } from "../events/contract.ts";
import { EVENT_PAYLOADS, eventExample } from "../events/events.ts";
import { FORMAT_EVENTS } from "../webhook-formats/contract.ts";
import { formatEventBody } from "../webhook-formats/webhook-formats.ts";
import { EVENT_TEXTS, FIELD_MEANINGS, type PageName } from "./event-texts.ts";

/** The Markdown of the page of an event, with a recorded payload. */
export function eventPage(name: PageName): string {
  const { notes = [] } = EVENT_TEXTS[name] ?? {};
  const example = eventExample(name);
  const rows = Object.entries(example.data as object).map(
    ([field, value]) => `| \`${field}\` | ${typeOf(value)} | ${meaningOf(name, field)} |`,
  );
  return `# ${name}

Recorded when ${EVENT_PAYLOADS[name].when}.

${[subscriptionOf(name), ...notes].join("\n\n")}

## Payload

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\`

## Fields of \`data\`

| Field | Type here | Meaning |
|---|---|---|
${rows.join("\n")}

[Events and payloads](README.md#fields-of-every-event) explains the fields around \`data\`.
${otherFormats(name, example)}
## Delivery

[Headers](../../guides/webhooks.md#headers) · [verifying the signature](../../guides/verifying-webhooks.md) ·
[retries and order](../../guides/webhooks.md#delivery) · [replay](../../guides/webhooks.md#seeing-and-repeating)
`;
}

/** The same payload in the formats of other gateways. */
function otherFormats(name: PageName, example: object): string {
  const body = Buffer.from(JSON.stringify(example));
  const options = { url: "https://example.com/hook", token: "your-token", baseUrl: "https://wa.example.com" };
  const shown = Object.entries(FORMAT_EVENTS).flatMap(([format, names]) => {
    if (!isIn(names, name)) return [];
    const formatted = formatEventBody(body, format as keyof typeof FORMAT_EVENTS, options);
    const text = JSON.stringify(JSON.parse(String(formatted)), null, 2);
    return `### ${format}\n\n\`\`\`json\n${text}\n\`\`\`\n`;
  });
  if (shown.length === 0) return "";
  const title = "## In the format of another gateway";
  return ["", title, "", "[Migration](../../start/migration.md) explains the formats.", "", ...shown].join(
    "\n",
  );
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
  if (meaning === undefined) throw new Error(`event-texts.ts has no meaning for data.${field} of ${name}.`);
  return meaning;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}
