const NO_MORE = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];

export const PAGE_POLICY = toPolicy([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  ...NO_MORE,
]);

/** The search of the guide is a form. */
export const GUIDE_POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");

/** Swagger UI inserts its own styles and sends requests to the gateway. */
export const REFERENCE_POLICY = toPolicy([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  ...NO_MORE,
]);

/** Allows no other origin and no inline script; QR codes are data URLs. */
export const LINK_POLICY = toPolicy([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  ...NO_MORE,
]);

function toPolicy(rules: readonly string[]): string {
  return rules.join("; ");
}
