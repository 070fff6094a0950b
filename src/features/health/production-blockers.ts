const MAX_SKEW_MS = 30_000;
const MIN_FREE_DISK = 0.05;
const LOOPBACK = /^(localhost|(.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** What the checks found; undefined where a check failed. */
export interface Findings {
  /** How far the clock of this process is from the database's. */
  skewMs: number | undefined;
  pendingMigrations: readonly string[] | undefined;
  hasWorker: boolean | undefined;
  hasSessionHost: boolean | undefined;
  /** Free part of the volume of the data directory, 0 to 1. */
  freeDisk: number | undefined;
  baseUrl: string;
  isDatabaseEmbedded: boolean;
  isProduction: boolean;
  /** The last file that came in found no room. */
  isMediaStoreFull?: boolean;
}

export interface Blocker {
  key: string;
  message: string;
}

const RULES: readonly (Blocker & { blocks(findings: Findings): boolean })[] = [
  {
    key: "database_unavailable",
    message: "The database does not answer within a second.",
    blocks: ({ skewMs }) => skewMs === undefined,
  },
  {
    key: "migrations_pending",
    message: "The database has not had all migrations of this version.",
    blocks: ({ pendingMigrations = [] }) => pendingMigrations.length > 0,
  },
  {
    key: "clock_skew",
    message: "The clock is more than 30 seconds away from the database's.",
    blocks: ({ skewMs = 0 }) => Math.abs(skewMs) > MAX_SKEW_MS,
  },
  {
    key: "no_live_worker",
    message: "No node with the role worker is alive.",
    blocks: ({ hasWorker }) => hasWorker !== true,
  },
  {
    key: "no_live_session_host",
    message: "No node with the role sessions is alive.",
    blocks: ({ hasSessionHost }) => hasSessionHost !== true,
  },
  {
    key: "disk_nearly_full",
    message: "Less than 5 % of the volume of the data directory is free.",
    blocks: ({ freeDisk = 1 }) => freeDisk < MIN_FREE_DISK,
  },
  {
    key: "media_store_full",
    message: "The media store has no room left: files that come in wait until there is some.",
    blocks: ({ isMediaStoreFull = false }) => isMediaStoreFull,
  },
  {
    key: "plain_http",
    message: "WAYGATE_BASE_URL is public and not https.",
    blocks: ({ baseUrl }) => isPublicHttp(baseUrl),
  },
  {
    key: "embedded_database",
    message: "The embedded database is meant for one machine; set DATABASE_URL.",
    blocks: ({ isDatabaseEmbedded, isProduction }) => isDatabaseEmbedded && isProduction,
  },
];

/** What stands in the way of production. */
export function findBlockers(findings: Findings): Blocker[] {
  return RULES.filter(({ blocks }) => blocks(findings)).map(({ key, message }) => ({ key, message }));
}

function isPublicHttp(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !LOOPBACK.test(hostname);
}
