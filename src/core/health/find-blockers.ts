import { describeFinding, FINDINGS, type FindingKey, findingOf } from "../../platform/findings.ts";

const LOOPBACK = /^(localhost|(.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** The results of the checks; undefined where a check failed. */
export interface ReadinessFindings {
  /** Difference between this process's clock and the database's. */
  skewMs: number | undefined;
  pendingMigrations: readonly string[] | undefined;
  hasWorker: boolean | undefined;
  hasSessionHost: boolean | undefined;
  /** Free share of the data directory's volume, 0 to 1. */
  freeDisk: number | undefined;
  baseUrl: string;
  isDatabaseEmbedded: boolean;
  isProduction: boolean;
  /** The last inbound file could not be stored because the disk was full. */
  isMediaStoreFull?: boolean;
  /** Names of the variables whose secrets can be guessed. */
  weakSecrets: readonly string[];
  /** Undefined without backups, as the next two. */
  hasBackupKey?: boolean | undefined;
  /** Since the last verified backup, or since the first account was created if there is none. */
  backupAgeMs?: number | undefined;
  /** Entries of the outgoing policy that open a machine or a network to every account. */
  openTargets: readonly string[];
  /** Whether any account exists besides the owner's. */
  hasOtherAccounts: boolean | undefined;
  /** After a restore, sends and deliveries stay on hold until the operator decides. */
  hasHeldJobs?: boolean | undefined;
  /** The session of an instance cannot start because of a fault of the gateway. */
  hasFailedStart: boolean | undefined;
  /** The network withholds messages of an instance. */
  hasWithheldQueue: boolean | undefined;
  /** Until WhatsApp refuses the version of its web client; undefined: it has named no time. */
  clientVersionRemainingSeconds: number | undefined;
}

/** What an extension finds: by the settings, and what it reads. */
export interface ExtensionFindings {
  known: Partial<ReadinessFindings>;
  read(): Promise<Partial<ReadinessFindings>>;
}

export interface ProductionBlocker {
  key: string;
  message: string;
}

const BLOCKS = {
  database_unavailable: ({ skewMs }) => skewMs === undefined,
  migrations_pending: ({ pendingMigrations = [] }) => pendingMigrations.length > 0,
  clock_skew: ({ skewMs = 0 }) => Math.abs(skewMs) > FINDINGS.clock_skew.limit,
  no_live_worker: ({ hasWorker }) => hasWorker !== true,
  no_live_session_host: ({ hasSessionHost }) => hasSessionHost !== true,
  disk_nearly_full: ({ freeDisk = 1 }) => freeDisk < FINDINGS.disk_nearly_full.limit,
  media_store_full: ({ isMediaStoreFull = false }) => isMediaStoreFull,
  plain_http: ({ baseUrl }) => isPublicHttp(baseUrl),
  embedded_database: ({ isDatabaseEmbedded, isProduction }) => isDatabaseEmbedded && isProduction,
  weak_secret: ({ weakSecrets }) => weakSecrets.length > 0,
  open_outgoing_policy: ({ openTargets, hasOtherAccounts = false }) =>
    hasOtherAccounts && openTargets.length > 0,
  no_backup_key: ({ hasBackupKey = true, isProduction }) => !hasBackupKey && isProduction,
  no_recent_backup: ({ backupAgeMs = 0, isProduction }) =>
    backupAgeMs > FINDINGS.no_recent_backup.limit * 1000 && isProduction,
  held_back: ({ hasHeldJobs = false }) => hasHeldJobs,
  sessions_failing: ({ hasFailedStart = false }) => hasFailedStart,
  queue_withheld: ({ hasWithheldQueue = false }) => hasWithheldQueue,
  client_version_expiring: ({ clientVersionRemainingSeconds: seconds = Number.POSITIVE_INFINITY }) =>
    seconds < FINDINGS.client_version_expiring.limit,
} satisfies Partial<Record<FindingKey, (findings: ReadinessFindings) => boolean>>;

const KEYS = Object.keys(BLOCKS) as (keyof typeof BLOCKS)[];

/** The keys that everybody may see. */
export const BLOCKER_KEYS = KEYS.filter((key) => !findingOf(key).isPrivate);

/** Problems that block production use. */
export function findBlockers(
  findings: ReadinessFindings,
  { isOperator }: { isOperator: boolean },
): ProductionBlocker[] {
  const found = KEYS.filter((key) => BLOCKS[key](findings));
  const shown: FindingKey[] = isOperator ? found : found.filter((key) => !findingOf(key).isPrivate);
  if (shown.length < found.length) shown.push("operator_only");
  return shown.map((key) => ({ key, message: describeFinding(key) }));
}

function isPublicHttp(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !LOOPBACK.test(hostname);
}
