import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import type { EventPayloads } from "../../core/event-payloads.ts";
import { DEFAULT_EVENTS, EXTRA_EVENTS, OPERATIONAL_EVENTS } from "../../core/events/contract.ts";
import { eventExample } from "../../core/events/events.ts";
import { type EventFormats, formatEventBody } from "../../core/webhooks/webhooks.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { packageRoot } from "../../platform/package-version.ts";
import { EVENT_TEXTS, FIELD_MEANINGS, type PageName } from "./event-texts.ts";
import { guideLayout } from "./guide-layout.ts";
import { GUIDE, type GuidePage, guidePath } from "./guide-pages.ts";
import { findSections, type GuideSection, resultsHtml, searchTermsOf, sectionsOf } from "./guide-search.ts";
import { markdownToHtml } from "./markdown-to-html.ts";

/** The events that this gateway records, and the formats of other gateways in which it sends them. */
export interface GuideEvents {
  payloads: EventPayloads;
  formats: EventFormats;
}

/** Renders each page of the guide once from its Markdown, and searches the pages. Those of events have no file. */
export function createGuide(recorded: GuideEvents, folder = join(packageRoot(), "docs")) {
  const rendered = new Map<GuidePage, Promise<string>>();
  let sections: Promise<GuideSection[]> | undefined;

  function contentOf(page: GuidePage): Promise<string> {
    const known = rendered.get(page);
    if (known) return known;
    const rendering = render(folder, page, recorded);
    rendered.set(page, rendering);
    rendering.catch(() => rendered.delete(page));
    return rendering;
  }

  async function readSections(): Promise<GuideSection[]> {
    // Pages for contributors use internal words, so the search leaves them out.
    const searched = GUIDE.filter(({ group }) => group !== "Contributing");
    const pages = searched.map(async (page) =>
      sectionsOf(page.title, guidePath(page.slug), await contentOf(page)),
    );
    return (await Promise.all(pages)).flat();
  }

  return {
    async page(slug: string): Promise<string> {
      const found = GUIDE.find((one) => one.slug === slug);
      if (!found) throw new GatewayError("NOT_FOUND", "There is no such page.");
      return guideLayout(found.title, await contentOf(found), { current: slug });
    },

    async search(query: string): Promise<string> {
      sections ??= readSections().catch((error) => {
        sections = undefined;
        throw error;
      });
      const words = searchTermsOf(query);
      const found = findSections(await sections, words);
      return guideLayout("Search", resultsHtml(query, found, words), { query });
    },
  };
}

async function render(folder: string, page: GuidePage, recorded: GuideEvents): Promise<string> {
  const text = page.event ? eventPage(page.event, recorded) : await readFile(join(folder, page.file), "utf8");
  return markdownToHtml(page.slug === "events" ? `${text}\n${eventList()}` : text, page.file);
}

function eventList(): string {
  const links = GUIDE.flatMap(({ event, file }) =>
    event ? `* [\`${event}\`](${posix.basename(file)})` : [],
  );
  return `## The page of each event\n\n${links.join("\n")}\n`;
}

/** The Markdown of the page of an event, with a recorded payload. */
function eventPage(name: PageName, { payloads, formats }: GuideEvents): string {
  const { notes = [] } = EVENT_TEXTS[name] ?? {};
  const example = eventExample(name);
  const rows = Object.entries(example.data as object).map(
    ([field, value]) => `| \`${field}\` | ${typeOf(value)} | ${meaningOf(name, field)} |`,
  );
  return `# ${name}

${whenOf(payloads[name])}

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
${otherFormats(formats, name, example)}
## Delivery

[Headers](../../guides/webhooks.md#headers) · [verifying the signature](../../guides/verifying-webhooks.md) ·
[retries and order](../../guides/webhooks.md#delivery) · [replay](../../guides/webhooks.md#seeing-and-repeating)
`;
}

function whenOf(described: EventPayloads[PageName]): string {
  return described ? `Recorded when ${described.when}.` : "This gateway does not record it.";
}

/** The same payload in the formats of other gateways, which change it. */
function otherFormats(formats: EventFormats, name: PageName, example: object): string {
  const body = Buffer.from(JSON.stringify(example));
  const options = { url: "https://example.com/hook", token: "your-token", baseUrl: "https://wa.example.com" };
  const shown = Object.entries(formats).flatMap(([format, { events }]) => {
    if (format === "cloudevents" || !isIn(events, name)) return [];
    const formatted = formatEventBody(formats, body, format as keyof EventFormats, options);
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
