/** Whether the If-None-Match header of a request names an ETag, also as a weak one; `*` names each. */
export function isKnownEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const named = (ifNoneMatch ?? "").split(",").map((one) => one.trim().replace(/^W\//, ""));
  return named.includes(etag) || named.includes("*");
}
