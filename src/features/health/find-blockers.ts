const MAX_SKEW_MS = 30_000;
const MIN_FREE_DISK = 0.05;
const MAX_BACKUP_AGE_MS = 2 * 86_400_000;
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
  hasBackupKey: boolean;
  /** Since the last verified backup, or since the first account was created if there is none. */
  backupAgeMs: number | undefined;
  /** Entries of the outgoing policy that open a machine or a network to every account. */
  openTargets: readonly string[];
  /** Whether any account exists besides the owner's. */
  hasOtherAccounts: boolean | undefined;
  /** After a restore, sends and deliveries stay on hold until the operator decides. */
  hasHeldJobs: boolean | undefined;
  /** The session of an instance cannot start because of a fault of the gateway. */
  hasFailedStart: boolean | undefined;
}

export interface ProductionBlocker {
  key: string;
  message: string;
}

interface Rule extends ProductionBlocker {
  /** Shown only to the operator, since it would help an attacker. */
  isPrivate?: true;
  blocks(findings: ReadinessFindings): boolean;
}

const RULES: readonly Rule[] = [
  {
    key: "database_unavailable",
    message:
      "The database does not respond within one second: check that it runs and that DATABASE_URL is right.",
    blocks: ({ skewMs }) => skewMs === undefined,
  },
  {
    key: "migrations_pending",
    message:
      "The database lacks migrations of this version: restart a node of this version, which applies them.",
    blocks: ({ pendingMigrations = [] }) => pendingMigrations.length > 0,
  },
  {
    key: "clock_skew",
    message:
      "This machine's clock and the database's differ by more than 30 seconds: synchronise both with NTP.",
    blocks: ({ skewMs = 0 }) => Math.abs(skewMs) > MAX_SKEW_MS,
  },
  {
    key: "no_live_worker",
    message: "No node with the role worker is running: start one with worker in WAYGATE_ROLES.",
    blocks: ({ hasWorker }) => hasWorker !== true,
  },
  {
    key: "no_live_session_host",
    message: "No node with the role sessions is running: start one with sessions in WAYGATE_ROLES.",
    blocks: ({ hasSessionHost }) => hasSessionHost !== true,
  },
  {
    key: "disk_nearly_full",
    message:
      "Less than 5 % of the volume of the data directory is free: delete files, or move it to a larger one.",
    blocks: ({ freeDisk = 1 }) => freeDisk < MIN_FREE_DISK,
  },
  {
    key: "media_store_full",
    message:
      "The media store is full, and inbound files wait: free disk space, or shorten WAYGATE_MEDIA_RETENTION.",
    blocks: ({ isMediaStoreFull = false }) => isMediaStoreFull,
  },
  {
    key: "plain_http",
    message:
      "WAYGATE_BASE_URL is public and not https: put a proxy with a certificate in front, and set its address.",
    blocks: ({ baseUrl }) => isPublicHttp(baseUrl),
  },
  {
    key: "embedded_database",
    message: "The embedded database is meant for one machine; set DATABASE_URL.",
    blocks: ({ isDatabaseEmbedded, isProduction }) => isDatabaseEmbedded && isProduction,
  },
  {
    key: "weak_secret",
    isPrivate: true,
    message:
      "A token can be guessed: `waygate doctor` names it. Replace it with the output of openssl rand -base64 32.",
    blocks: ({ weakSecrets }) => weakSecrets.length > 0,
  },
  {
    key: "open_outgoing_policy",
    message:
      "WAYGATE_ALLOWED_HOSTS lets every account call this machine or network: name single hosts with a port, such as n8n:5678.",
    blocks: ({ openTargets, hasOtherAccounts = false }) => hasOtherAccounts && openTargets.length > 0,
  },
  {
    key: "no_backup_key",
    isPrivate: true,
    message:
      "The backup key is stored beside the data that it protects: set WAYGATE_BACKUP_KEY, and keep a copy elsewhere.",
    blocks: ({ hasBackupKey, isProduction }) => !hasBackupKey && isProduction,
  },
  {
    key: "no_recent_backup",
    message: "No backup of the last two days has been verified: GET /api/admin/backups shows the reason.",
    blocks: ({ backupAgeMs = 0, isProduction }) => backupAgeMs > MAX_BACKUP_AGE_MS && isProduction,
  },
  {
    key: "held_back",
    message:
      "The jobs that were pending in the restored backup are on hold: release or discard them (waygate restore --release).",
    blocks: ({ hasHeldJobs = false }) => hasHeldJobs,
  },
  {
    key: "sessions_failing",
    message:
      "The gateway cannot start the sessions of some instances: `waygate doctor` shows why, and the log has the errors.",
    blocks: ({ hasFailedStart = false }) => hasFailedStart,
  },
];

/** The keys that everybody may see. */
export const BLOCKER_KEYS = RULES.filter(({ isPrivate }) => !isPrivate).map(({ key }) => key);

/** Problems that block production use. */
export function findBlockers(
  findings: ReadinessFindings,
  { isOperator }: { isOperator: boolean },
): ProductionBlocker[] {
  const found = RULES.filter(({ blocks }) => blocks(findings));
  const shown = isOperator ? found : found.filter(({ isPrivate }) => !isPrivate);
  const blockers = shown.map(({ key, message }) => ({ key, message }));
  return shown.length === found.length ? blockers : [...blockers, HIDDEN];
}

const HIDDEN: ProductionBlocker = {
  key: "operator_only",
  message: "`waygate doctor` and /health with the administrative token list the others.",
};

function isPublicHttp(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !LOOPBACK.test(hostname);
}
