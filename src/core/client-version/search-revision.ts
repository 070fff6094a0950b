import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { findListedProblem, findListedRevision, findRevision, findRevisionProblem } from "./find-revision.ts";

/** The origin of WhatsApp's own web client. */
export const WEB_CLIENT_URL = "https://web.whatsapp.com";

/** A list of published versions that a project of volunteers keeps: a number in JSON, of which nothing is executed. */
export const VERSION_LIST_URL =
  "https://raw.githubusercontent.com/wppconnect-team/wa-version/main/versions.json";

const MAX_BYTES = 2 * 1024 * 1024;
const TOTAL_MS = 10_000;

const BROWSER =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

/** The service worker first, then the page. WhatsApp returns 400 to clients that are not browsers. */
const SOURCES: readonly { path: string; headers: Record<string, string> }[] = [
  { path: "/sw.js", headers: { "sec-fetch-site": "none" } },
  {
    path: "/",
    headers: {
      "sec-fetch-dest": "document",
      "sec-fetch-mode": "navigate",
      "sec-fetch-site": "none",
      "sec-fetch-user": "?1",
    },
  },
];

export interface RevisionSearch {
  outgoing: Pick<SafeFetch, "fetch">;
  origin: string;
  /** The newest stored revision. */
  known: number | null;
  /** Timeout of each request. */
  totalMs?: number;
}

/** Fetches the current revision of WhatsApp's web client. */
export async function searchRevision(
  search: RevisionSearch,
): Promise<{ revision: number } | { problem: string }> {
  const problems = new Map<string, string>();
  for (const source of SOURCES) {
    const found = await fetchRevision(search, source);
    if ("revision" in found) return found;
    problems.set(found.problem, source.path);
  }
  const named = [...problems].map(([problem, path]) =>
    problems.size === 1 ? problem : `${path}: ${problem}`,
  );
  return { problem: named.join(" ") };
}

function fetchRevision(
  { outgoing, origin, known, totalMs }: RevisionSearch,
  { path, headers }: (typeof SOURCES)[number],
): Promise<{ revision: number } | { problem: string }> {
  return readRevision({
    outgoing,
    url: new URL(path, origin).href,
    headers: { ...headers, "user-agent": BROWSER },
    totalMs,
    find: findRevision,
    findProblem: (revision) => findRevisionProblem(revision, known),
  });
}

/** Fetches the revision that the list of others names, for when WhatsApp's own pages cannot be read. */
export function searchListedRevision(
  search: Pick<RevisionSearch, "outgoing" | "totalMs"> & { url: string },
): Promise<{ revision: number } | { problem: string }> {
  return readRevision({ ...search, headers: {}, find: findListedRevision, findProblem: findListedProblem });
}

interface RevisionRequest extends Pick<RevisionSearch, "outgoing" | "totalMs"> {
  url: string;
  headers: Record<string, string>;
  find(text: string): number | undefined;
  findProblem(revision: number): string | undefined;
}

async function readRevision(request: RevisionRequest): Promise<{ revision: number } | { problem: string }> {
  const { outgoing, url, headers, totalMs = TOTAL_MS, find, findProblem } = request;
  const outcome = await outgoing.fetch({
    url,
    method: "GET",
    headers,
    totalMs,
    maxBytes: MAX_BYTES,
    policyKey: "operator",
  });
  if (outcome.outcome === "failed") return { problem: outcome.error };
  if (outcome.status !== 200) return { problem: `The response was HTTP ${outcome.status}.` };
  const revision = find(outcome.body.toString("latin1"));
  if (revision === undefined) {
    const where = outcome.truncated ? ` in its first ${MAX_BYTES} bytes` : "";
    return { problem: `The response contains no client revision${where}.` };
  }
  const fault = findProblem(revision);
  return fault === undefined ? { revision } : { problem: fault };
}
