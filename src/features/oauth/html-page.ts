import { RawResponse } from "../../platform/http/handler.ts";

const HTML = "text/html; charset=utf-8";

interface HtmlPageOptions {
  /** Where its form may end besides here, as a source of a Content-Security-Policy. */
  redirectSource?: string;
  headers?: Record<string, string> | undefined;
}

/** A page that runs no script and is never framed. */
export function htmlPage(
  html: string,
  status = 200,
  { redirectSource, headers }: HtmlPageOptions = {},
): RawResponse {
  const formAction = ["'self'", ...(redirectSource === undefined ? [] : [redirectSource])].join(" ");
  return new RawResponse(HTML, html, status, {
    "content-security-policy": [
      "default-src 'none'",
      "style-src 'self'",
      "img-src 'self'",
      `form-action ${formAction}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex",
    // With no-referrer, browsers would hide the origin of the form.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    ...headers,
  });
}

/** Sends the browser elsewhere with GET. */
export function redirectTo(url: string): RawResponse {
  return new RawResponse("text/plain; charset=utf-8", "", 303, {
    location: url,
    "cache-control": "no-store",
  });
}
