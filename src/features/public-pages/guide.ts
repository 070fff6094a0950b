import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { packageRoot } from "../../platform/config/package-version.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { eventPage } from "./event-page.ts";
import { guideLayout } from "./guide-layout.ts";
import { GUIDE, type GuidePage, guidePath } from "./guide-pages.ts";
import { findSections, type GuideSection, resultsHtml, searchTermsOf, sectionsOf } from "./guide-search.ts";
import { markdownToHtml } from "./markdown-to-html.ts";

/** Renders each page of the guide once from its Markdown, and searches the pages. Those of events have no file. */
export function createGuide(folder = join(packageRoot(), "docs")) {
  const rendered = new Map<GuidePage, Promise<string>>();
  let sections: Promise<GuideSection[]> | undefined;

  function contentOf(page: GuidePage): Promise<string> {
    const known = rendered.get(page);
    if (known) return known;
    const rendering = render(folder, page);
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

async function render(folder: string, page: GuidePage): Promise<string> {
  const text = page.event ? eventPage(page.event) : await readFile(join(folder, page.file), "utf8");
  return markdownToHtml(page.slug === "events" ? `${text}\n${eventList()}` : text, page.file);
}

function eventList(): string {
  const links = GUIDE.flatMap(({ event, file }) =>
    event ? `* [\`${event}\`](${posix.basename(file)})` : [],
  );
  return `## The page of each event\n\n${links.join("\n")}\n`;
}
