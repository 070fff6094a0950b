import type { Route } from "../route.ts";

/** Bodies of unauthenticated callers stay small. */
const PUBLIC_BODY_BYTES = 65_536;
/** Each name costs a lookup in the route's input. */
const PUBLIC_BODY_VALUES = 1_000;

export interface BodyLimits {
  bodyLimitBytes: number;
  /** For routes that accept files; `bodyLimitBytes` if absent. */
  uploadLimitBytes?: number;
}

/** The most bytes in the body of a request to this route. */
export function bodyLimitOf(route: Route, { bodyLimitBytes, uploadLimitBytes }: BodyLimits): number {
  const { access, upload } = route;
  if (route.bodyLimitBytes !== undefined) return route.bodyLimitBytes;
  if (access === "public") return Math.min(PUBLIC_BODY_BYTES, bodyLimitBytes);
  return upload === undefined ? bodyLimitBytes : (uploadLimitBytes ?? bodyLimitBytes);
}

/** The most names and values in the body of a request to this route; absent: no limit. */
export function bodyLimitValuesOf({ access, pathToken, bodyLimitValues }: Route): {
  bodyLimitValues?: number;
} {
  if (bodyLimitValues !== undefined) return { bodyLimitValues };
  return access === "public" && !pathToken ? { bodyLimitValues: PUBLIC_BODY_VALUES } : {};
}
