import { posix } from "node:path";
import { EVENT_NAMES, STREAM_EVENTS } from "../../core/events/contract.ts";
import type { PageName } from "./event-texts.ts";

/** A page of the guide; `file` is its Markdown below `docs/`, which exists for all pages but those of events. */
export interface GuidePage {
  slug: string;
  title: string;
  group: string;
  file: string;
  /** Slug of the page below which the navigation lists this one. */
  parent?: string;
  /** The page of this event. */
  event?: PageName;
}

/** Slugs and titles of each folder of `docs/`, in the order of the navigation. */
const GROUPS: Readonly<Record<string, readonly (readonly [slug: string, title: string])[]>> = {
  start: [
    ["quick-start", "Quick start"],
    ["install", "Installation"],
    ["sandbox", "Sandbox network"],
    ["migration", "Migration from another gateway"],
  ],
  guides: [
    ["pairing", "Pairing a phone"],
    ["sending", "Sending"],
    ["asynchronous-sends", "Asynchronous sends"],
    ["media", "Files"],
    ["contacts-and-chats", "Contacts and chats"],
    ["campaigns", "Campaigns"],
    ["webhooks", "Webhooks"],
    ["verifying-webhooks", "Verifying webhooks"],
    ["destinations", "Brokers as destinations"],
    ["integrations", "Integrations"],
    ["n8n", "n8n"],
    ["typebot", "Typebot"],
    ["chatwoot", "Chatwoot"],
    ["assistant-tools", "Assistant tools"],
    ["client", "Typed client"],
    ["accounts", "Accounts"],
    ["panel", "The panel"],
  ],
  reference: [
    ["command-line", "Command line"],
    ["errors", "Errors"],
    ["events", "Events and payloads"],
    ["configuration", "Configuration"],
    ["limits", "Limits"],
    ["session-states", "Session states"],
    ["campaign-states", "Campaign states"],
  ],
  operation: [
    ["production-readiness", "Production readiness"],
    ["scaling", "Scaling"],
    ["backups", "Backups"],
    ["privacy", "Privacy"],
    ["monitoring", "Monitoring"],
    ["tracing", "Tracing"],
  ],
  reliability: [
    ["reliability", "Promises and their tests"],
    ["performance", "Performance"],
    ["network", "The network that Waygate follows"],
    ["security", "Security checks"],
    ["asvs", "OWASP ASVS 5.0"],
  ],
  contributing: [
    ["extensions", "Writing an extension"],
    ["decisions", "Decisions"],
    ["dependencies", "Dependencies"],
    ["releasing", "Releasing"],
    ["real-phone-checklist", "Tests with a real phone"],
  ],
};

const TITLES: Readonly<Record<string, string>> = {
  start: "Start",
  guides: "Guides",
  reference: "Reference",
  operation: "Operation",
  reliability: "Reliability",
  contributing: "Contributing",
};

/** Every page of the guide, in reading order. */
export const GUIDE: readonly GuidePage[] = Object.entries(GROUPS).flatMap(([folder, pages]) =>
  pages.flatMap(([slug, title]) => {
    const group = TITLES[folder] ?? folder;
    return slug === "events"
      ? eventPages(title, group)
      : [{ slug, title, group, file: `${folder}/${slug}.md` }];
  }),
);

function eventPages(title: string, group: string): GuidePage[] {
  const index = { slug: "events", title, group, file: "reference/events/README.md" };
  const names = [...EVENT_NAMES, ...STREAM_EVENTS].sort();
  const pages = names.map((name) => ({
    slug: name,
    title: name,
    group,
    file: `reference/events/${name}.md`,
    parent: index.slug,
    event: name,
  }));
  return [index, ...pages];
}

/** Texts that the operator must publish: `file` is below `docs/`, their own text in the data directory. */
export const LEGAL_PAGES = {
  privacy: {
    path: "/privacy",
    title: "Privacy policy",
    name: "privacy.md",
    file: "operation/legal/privacy.md",
  },
  terms: { path: "/terms", title: "Terms of use", name: "terms.md", file: "operation/legal/terms.md" },
};

/** The page at `/docs/waygate`. */
export const FIRST_PAGE = "quick-start";

/** The path of a page of the guide. */
export function guidePath(slug: string): string {
  return slug === FIRST_PAGE ? "/docs/waygate" : `/docs/waygate/${slug}`;
}

/** The URL of the page to which a link in `file` leads; undefined if the guide has no such page. */
export function resolveGuideLink(file: string, link: string): string | undefined {
  const [path = "", hash] = link.split("#", 2);
  const target = posix.join(posix.dirname(file), path).replace(/\/$/, "/README.md");
  const page = GUIDE.find((one) => one.file === target);
  return page && `${guidePath(page.slug)}${hash === undefined ? "" : `#${hash}`}`;
}
