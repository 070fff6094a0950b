import type { ClientVersion } from "../../network/client-version.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Db } from "../../platform/db/database.ts";
import { BUILT_IN_REVISION } from "./find-revision.ts";
import { VERSION_LIST_URL, WEB_CLIENT_URL } from "./search-revision.ts";
import { listedRevision, readVersionRow, usableRevision, type VersionRow } from "./version-row.ts";

export { WEB_CLIENT_URL } from "./search-revision.ts";

/**
 * Where the version comes from. `origin`: the server that is searched, and `list` if it does not help; `off`: no session
 * uses WhatsApp.
 */
export type VersionPolicy = { pinned: ClientVersion } | { origin: string; list: string } | { off: true };

/** The version with which this gateway's sessions log in, for operators. */
export interface VersionState {
  version: string;
  /** `listed`: others name it, because WhatsApp's own pages could not be read. */
  source: "pinned" | "fetched" | "listed" | "built-in";
  /** Whether the gateway searches for newer versions. */
  searching: boolean;
  /** When WhatsApp last confirmed a version; null: never. */
  found_at: Date | null;
  /** Why the last search found nothing. */
  problem: string | null;
  /** When WhatsApp intends to refuse this version; null: it has named no time. */
  expires_at: Date | null;
}

export function versionPolicyOf(
  config: Pick<Config, "whatsappVersion" | "whatsappUrl" | "clientVersionOrigin">,
): VersionPolicy {
  if (config.whatsappVersion) return { pinned: config.whatsappVersion };
  const { clientVersionOrigin: origin } = config;
  if (origin !== undefined) return { origin, list: new URL("/versions.json", origin).href };
  return config.whatsappUrl === undefined
    ? { origin: WEB_CLIENT_URL, list: VERSION_LIST_URL }
    : { off: true };
}

export async function readVersionState(db: Db, policy: VersionPolicy): Promise<VersionState> {
  return versionStateOf(policy, await readVersionRow(db));
}

/** Combines the settings and the stored row. */
export function versionStateOf(policy: VersionPolicy, row: VersionRow | undefined): VersionState {
  const current = versionOf(policy, row);
  const version = current.join(".");
  const expires_at = row?.expires_revision === current[2] ? row.expires_at : null;
  if ("pinned" in policy) return { version, source: "pinned", ...NOT_SEARCHING, expires_at };
  if ("off" in policy) return { version, source: "built-in", ...NOT_SEARCHING, expires_at };
  const isListed = row !== undefined && listedRevision(row) === current[2];
  const isFetched = row !== undefined && usableRevision(row) !== undefined;
  const source = isListed ? "listed" : isFetched ? "fetched" : "built-in";
  const { found_at = null, problem = null } = row ?? {};
  return { version, source, searching: true, found_at, problem, expires_at };
}

const NOT_SEARCHING = { searching: false, found_at: null, problem: null };

/** Whole seconds since WhatsApp last confirmed a version. */
export function versionAgeSeconds({ found_at }: VersionState): number | null {
  return found_at && Math.max(0, Math.floor((Date.now() - found_at.getTime()) / 1000));
}

/** Seconds until WhatsApp refuses the version; undefined if it has named no time. */
export function remainingSeconds({ expires_at }: VersionState): number | undefined {
  return expires_at ? Math.max(0, Math.floor((expires_at.getTime() - Date.now()) / 1000)) : undefined;
}

export function versionOf(policy: VersionPolicy, row: VersionRow | undefined): ClientVersion {
  if ("pinned" in policy) return policy.pinned;
  const found = "origin" in policy && row ? (listedRevision(row) ?? usableRevision(row)) : undefined;
  return [2, 3000, found ?? BUILT_IN_REVISION];
}
