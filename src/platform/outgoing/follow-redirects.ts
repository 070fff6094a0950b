import { decodeText } from "../text/decode-text.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface Hop {
  url: string;
  headers?: Record<string, string>;
  totalMs: number;
}

interface Responded {
  outcome: "response";
  status: number;
  headers: Record<string, string>;
  durationMs: number;
}

interface Failed {
  outcome: "failed";
  error: string;
  durationMs: number;
}

interface RedirectFailed extends Failed {
  failure: "too_many_redirects" | "timeout_total";
}

/**
 * Sends a request and follows its redirects. Each hop is checked under the same policy, and all hops share
 * one deadline. Headers, user name and password are not sent to another origin. A response includes its final
 * `url`.
 */
export async function followRedirects<Request extends Hop, Outcome extends Responded | Failed>(
  first: Request,
  send: (request: Request) => Promise<Outcome>,
): Promise<(Outcome & { url: string }) | RedirectFailed> {
  const began = performance.now();
  let request = first;
  for (let hops = 0; ; hops++) {
    const outcome = { ...(await send(request)), durationMs: msSince(began), url: request.url };
    const next = outcome.outcome === "response" ? nextRequest(request, outcome) : undefined;
    if (!next) return hops > 0 ? afterRedirect(outcome) : outcome;
    if (hops === MAX_REDIRECTS)
      return failed("too_many_redirects", `The address redirects more than ${MAX_REDIRECTS} times.`, began);
    const totalMs = first.totalMs - msSince(began);
    if (totalMs <= 0) return failed("timeout_total", "No response within the time limit.", began);
    request = { ...next, totalMs };
  }
}

/** Undefined for a response that is no redirect. */
function nextRequest<Request extends Hop>(
  request: Request,
  { status, headers }: Responded,
): Request | undefined {
  // Many hosts write names unencoded, of which HTTP reads each byte as a character.
  const location = headers.location && decodeText(Buffer.from(headers.location, "latin1"));
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url))
    return undefined;
  const from = new URL(request.url);
  const to = new URL(location, from);
  const isSameOrigin = to.origin === from.origin;
  to.username = isSameOrigin ? from.username : "";
  to.password = isSameOrigin ? from.password : "";
  return { ...request, url: to.href, headers: isSameOrigin ? request.headers : undefined };
}

/** Says that the fault is not at the given URL. */
function afterRedirect<Outcome extends Responded | Failed>(outcome: Outcome): Outcome {
  if (outcome.outcome !== "failed") return outcome;
  return { ...outcome, error: `After a redirect: ${outcome.error}` };
}

function failed(failure: RedirectFailed["failure"], error: string, began: number): RedirectFailed {
  return { outcome: "failed", failure, error, durationMs: msSince(began) };
}

function msSince(began: number): number {
  return Math.round(performance.now() - began);
}
