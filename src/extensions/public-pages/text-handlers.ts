import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CompressedCopies } from "../../platform/http/cached/compressed-copies.ts";
import { type Handlers, RawResponse } from "../../platform/http/handler.ts";
import type { publicPagesContract } from "./contract.ts";
import { guideLayout } from "./guide-layout.ts";
import { LEGAL_PAGES } from "./guide-pages.ts";
import { markdownToHtml } from "./markdown-to-html.ts";
import { GUIDE_POLICY } from "./page-policies.ts";

/** The folders that contain the texts. */
export interface TextPageFolders {
  /** The operator's own texts, which take precedence. */
  dataDir: string;
  /** The texts that are part of the gateway. */
  packageRoot: string;
}

type RequestHeaders = Parameters<CompressedCopies["respond"]>[2];
type TextHandlers = Pick<Handlers<typeof publicPagesContract>, "privacy" | "terms" | "productionReadiness">;

interface TextPage {
  title: string;
  /** The page's entry in the navigation. */
  current: string;
  /** Path below `docs/`. */
  file: string;
  /** The operator's own file in the data directory. */
  name?: string;
}

const PRIVACY: TextPage = { ...LEGAL_PAGES.privacy, current: LEGAL_PAGES.privacy.path };
const TERMS: TextPage = { ...LEGAL_PAGES.terms, current: LEGAL_PAGES.terms.path };
const READINESS: TextPage = {
  title: "Production readiness",
  current: "production-readiness",
  file: "operation/production-readiness.md",
};
const HTML = "text/html; charset=utf-8";
const MARKDOWN = "text/markdown; charset=utf-8";
const HEADERS = { "content-security-policy": GUIDE_POLICY, "cache-control": "no-cache", vary: "accept" };

/** Legal texts and the production checklist; each request reads the file, so changes need no restart. */
export function textHandlers(
  { dataDir, packageRoot }: TextPageFolders,
  copies: CompressedCopies,
): TextHandlers {
  async function readText({ name, file }: TextPage): Promise<string | undefined> {
    const own = name === undefined ? undefined : await readIfThere(join(dataDir, name));
    return own ?? readIfThere(join(packageRoot, "docs", file));
  }

  /** Returns Markdown, or HTML if the Accept header names HTML, as browsers do. */
  async function negotiate(page: TextPage, headers: RequestHeaders): Promise<RawResponse> {
    const text = await readText(page);
    if (text === undefined || String(headers.accept).includes("text/html"))
      return copies.respond(page.file, toPage(page, text), headers);
    return copies.respond(`${page.file} as text`, new RawResponse(MARKDOWN, text, 200, HEADERS), headers);
  }

  return {
    privacy: ({ headers }) => negotiate(PRIVACY, headers),
    terms: async ({ headers }) => copies.respond(TERMS.file, toPage(TERMS, await readText(TERMS)), headers),
    productionReadiness: ({ headers }) => negotiate(READINESS, headers),
  };
}

function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

function toPage({ title, current, file }: TextPage, text: string | undefined): RawResponse {
  const content =
    text === undefined
      ? `<h1>${title}</h1>\n<p>The operator of this gateway has not published this text yet. Ask the operator for it.</p>`
      : markdownToHtml(text, file);
  return new RawResponse(HTML, guideLayout(title, content, { current }), 200, HEADERS);
}
