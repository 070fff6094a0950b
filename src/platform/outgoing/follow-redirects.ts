export const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface Hop {
  url: string;
  headers?: Record<string, string>;
  totalMs: number;
}

interface Answered {
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
 * Calls where an address leads. Each hop is a call of its own under the same policy, all of them share one deadline, and
 * what belongs to one origin (headers, user name and password) goes to no other. An answer says from which `url` it came.
 */
export async function followRedirects<Request extends Hop, Outcome extends Answered | Failed>(
  first: Request,
  call: (request: Request) => Promise<Outcome>,
): Promise<(Outcome & { url: string }) | RedirectFailed> {
  const began = performance.now();
  let request = first;
  for (let hops = 0; ; hops++) {
    const outcome = { ...(await call(request)), durationMs: msSince(began), url: request.url };
    const next = outcome.outcome === "response" ? nextRequest(request, outcome) : undefined;
    if (!next) return hops > 0 ? afterRedirect(outcome) : outcome;
    if (hops === MAX_REDIRECTS)
      return failed("too_many_redirects", `The address redirects more than ${MAX_REDIRECTS} times.`, began);
    const totalMs = first.totalMs - msSince(began);
    if (totalMs <= 0) return failed("timeout_total", "No answer within the time limit.", began);
    request = { ...next, totalMs };
  }
}

/** Undefined for an answer that leads nowhere. */
function nextRequest<Request extends Hop>(
  request: Request,
  { status, headers }: Answered,
): Request | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url))
    return undefined;
  const from = new URL(request.url);
  const to = new URL(location, from);
  const isSameOrigin = to.origin === from.origin;
  to.username = isSameOrigin ? from.username : "";
  to.password = isSameOrigin ? from.password : "";
  return { ...request, url: to.href, headers: isSameOrigin ? request.headers : undefined };
}

/** The address that was given is not the one at fault. */
function afterRedirect<Outcome extends Answered | Failed>(outcome: Outcome): Outcome {
  if (outcome.outcome !== "failed") return outcome;
  return { ...outcome, error: `After a redirect: ${outcome.error}` };
}

function failed(failure: RedirectFailed["failure"], error: string, began: number): RedirectFailed {
  return { outcome: "failed", failure, error, durationMs: msSince(began) };
}

function msSince(began: number): number {
  return Math.round(performance.now() - began);
}
