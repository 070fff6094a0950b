import { ulid } from "../ulid.ts";

const WELL_FORMED = /^[A-Za-z0-9_.:-]{1,128}$/;

/** The caller's request id if well formed, otherwise a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === "string" && WELL_FORMED.test(given) ? given : `req_${ulid()}`;
}
