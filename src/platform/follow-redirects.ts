import type { DownloadOutcome, DownloadRequest } from "./safe-fetch.ts";

export const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Downloads from where an address leads. Each hop is a call of its own under the same policy, all of them share one deadline,
 * and what belongs to one origin (headers, user name and password) goes to no other.
 */
export async function followRedirects(
  first: DownloadRequest,
  download: (request: DownloadRequest) => Promise<DownloadOutcome>,
): Promise<DownloadOutcome> {
  const began = performance.now();
  let request = first;
  for (let hops = 0; ; hops++) {
    const outcome = { ...(await download(request)), durationMs: msSince(began) };
    const next = outcome.outcome === "response" ? nextRequest(request, outcome) : undefined;
    if (!next) return hops > 0 && outcome.outcome === "failed" ? afterRedirect(outcome) : outcome;
    if (hops === MAX_REDIRECTS)
      return failed("too_many_redirects", `The address redirects more than ${MAX_REDIRECTS} times.`, began);
    const totalMs = first.totalMs - msSince(began);
    if (totalMs <= 0) return failed("timeout_total", "No answer within the time limit.", began);
    request = { ...next, totalMs };
  }
}

/** Undefined for an answer that leads nowhere. */
function nextRequest(
  request: DownloadRequest,
  { status, headers }: { status: number; headers: Record<string, string> },
): DownloadRequest | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url))
    return undefined;
  const from = new URL(request.url);
  const to = new URL(location, from);
  const isSameOrigin = to.origin === from.origin;
  to.username = isSameOrigin ? from.username : "";
  to.password = isSameOrigin ? from.password : "";
  const { headers: sent, ...rest } = request;
  return { ...rest, url: to.href, ...(isSameOrigin && sent && { headers: sent }) };
}

/** The address that was given is not the one at fault. */
function afterRedirect<Failed extends { error: string }>(outcome: Failed): Failed {
  return { ...outcome, error: `After a redirect: ${outcome.error}` };
}

function failed(
  failure: "too_many_redirects" | "timeout_total",
  error: string,
  began: number,
): DownloadOutcome {
  return { outcome: "failed", failure, error, durationMs: msSince(began) };
}

function msSince(began: number): number {
  return Math.round(performance.now() - began);
}
