/** Whether the If-None-Match header of a request names an ETag, also as a weak one. */
export function isKnownEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? "").split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
