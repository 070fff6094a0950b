import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Handlers, RawResponse } from "../../platform/http/handler.ts";
import type { publicPagesContract } from "./contract.ts";
import { toHtml } from "./guide.ts";
import { pageLayout } from "./page-layout.ts";

/** Where the texts are. */
export interface TextPageFolders {
  /** The operator's own, which win. */
  dataDir: string;
  /** Those that come with the gateway. */
  packageRoot: string;
}

type TextHandlers = Pick<Handlers<typeof publicPagesContract>, "privacy" | "terms" | "productionReadiness">;

const HTML = "text/html; charset=utf-8";
const MARKDOWN = "text/markdown; charset=utf-8";
const HEADERS = {
  // Whatever stands in the text, nothing of it runs.
  "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'",
  "cache-control": "no-cache",
};

/** What people must be told; read anew each time, so that a changed text needs no restart. */
export function textHandlers({ dataDir, packageRoot }: TextPageFolders): TextHandlers {
  const legal = (name: string) => [join(dataDir, name), join(packageRoot, "docs", "legal", name)];
  return {
    async privacy({ headers }) {
      const text = await readFirst(legal("privacy.md"));
      return text === undefined
        ? absent("Privacy policy")
        : negotiate("Privacy policy", text, headers.accept);
    },

    async terms() {
      const text = await readFirst(legal("terms.md"));
      return text === undefined ? absent("Terms of use") : toPage("Terms of use", toHtml(text));
    },

    async productionReadiness({ headers }) {
      const text = await readFirst([join(packageRoot, "docs", "production-readiness.md")]);
      return text === undefined
        ? absent("Production readiness")
        : negotiate("Production readiness", text, headers.accept);
    },
  };
}

async function readFirst(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Markdown, as it is specified; who asks for HTML by name, as browsers do, gets a page. */
function negotiate(title: string, text: string, accept: string | string[] | undefined): RawResponse {
  const answer = String(accept).includes("text/html")
    ? toPage(title, toHtml(text))
    : new RawResponse(MARKDOWN, text, 200, HEADERS);
  return new RawResponse(answer.type, answer.body, 200, { ...answer.headers, vary: "accept" });
}

function toPage(title: string, body: string): RawResponse {
  const html = pageLayout({ title: `${title} · Waygate`, body: `<main id="content">\n${body}\n</main>` });
  return new RawResponse(HTML, html, 200, HEADERS);
}

function absent(title: string): RawResponse {
  const text = "The operator of this gateway has not put this text here yet. Ask them for it.";
  return toPage(title, `<h1>${title}</h1>\n<p>${text}</p>`);
}
