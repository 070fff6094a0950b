const NO_MORE = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];

export const PAGE_POLICY = toPolicy([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  ...NO_MORE,
]);

/** The guide has a form for its search. */
export const GUIDE_POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");

/** The library of the reference writes styles of its own and calls the gateway. */
export const REFERENCE_POLICY = toPolicy([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  ...NO_MORE,
]);

/** Loads nothing from other origins and runs no inline script; QR codes are data URLs. */
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
