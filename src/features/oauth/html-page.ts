import { RawResponse } from "../../platform/http/handler.ts";

const HTML = "text/html; charset=utf-8";

/** A page that runs no script, is never framed, and whose form ends here or at the redirect. */
export function htmlPage(html: string, status = 200, redirectSource?: string): RawResponse {
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
  });
}

/** Sends the browser elsewhere with GET. */
export function redirectTo(url: string): RawResponse {
  return new RawResponse("text/plain; charset=utf-8", "", 303, {
    location: url,
    "cache-control": "no-store",
  });
}
