/** A state that somebody should change. */
export interface Finding {
  /** Whether a person is needed now, or on the next working day. */
  severity: "warning" | "critical";
  /** Where the state begins, if a number decides. */
  limit?: number;
  /** Where a milder form of it begins, which is a warning. */
  warnAt?: number;
  /** What is wrong; absent if the sentence contains values of the moment. */
  problem?: string;
  /** What to do. */
  action: string;
  /** The alert of deploy/helm/alerts.yml that reports it. */
  rule?: string;
  /** Shown only to the operator, since it would help an attacker. */
  isPrivate?: true;
}

/**
 * Every diagnosis that more than one reader makes: `/health`, `waygate doctor`, the monitor with its alerts and
 * recommended actions, the rules for Prometheus, and the panel.
 */
export const FINDINGS = {
  database_unavailable: {
    severity: "critical",
    problem: "The database does not respond within one second.",
    action: "Check that it runs and that DATABASE_URL is right.",
    rule: "WaygateDatabaseUnavailable",
  },
  migrations_pending: {
    severity: "warning",
    problem: "The database lacks migrations of this version.",
    action: "Start a node of this version, which applies them.",
    rule: "WaygateProductionBlocked",
  },
  /** In milliseconds. */
  clock_skew: {
    severity: "critical",
    limit: 30_000,
    warnAt: 5_000,
    problem: "The clocks of this machine and the database differ by more than 30 seconds.",
    action: "Synchronise both with NTP.",
    rule: "WaygateProductionBlocked",
  },
  no_live_worker: {
    severity: "critical",
    problem: "No node with the role worker is running.",
    action: "Start one with worker in WAYGATE_ROLES.",
    rule: "WaygateRoleMissing",
  },
  no_live_session_host: {
    severity: "critical",
    problem: "No node with the role sessions is running.",
    action: "Start one with sessions in WAYGATE_ROLES.",
    rule: "WaygateRoleMissing",
  },
  /** The free share of the volume. */
  disk_nearly_full: {
    severity: "critical",
    limit: 0.05,
    warnAt: 0.1,
    problem: "Less than 5 % of the volume of the data directory is free.",
    action: "Free disk space, or set WAYGATE_DATA_DIR to a larger disk.",
    rule: "WaygateVolumeNearlyFull",
  },
  media_store_full: {
    severity: "warning",
    problem: "The media store is full, and inbound files wait.",
    action: "Free disk space, or shorten WAYGATE_MEDIA_RETENTION.",
    rule: "WaygateProductionBlocked",
  },
  plain_http: {
    severity: "warning",
    problem: "WAYGATE_BASE_URL is public and not https.",
    action: "Put a proxy with a certificate in front, and set its address.",
  },
  embedded_database: {
    severity: "warning",
    problem: "The embedded database is meant for one machine.",
    action: "Set DATABASE_URL.",
  },
  weak_secret: {
    severity: "warning",
    isPrivate: true,
    problem: "A token can be guessed: `waygate doctor` names it.",
    action: "Replace it with the output of openssl rand -base64 32.",
  },
  open_outgoing_policy: {
    severity: "warning",
    problem: "WAYGATE_ALLOWED_HOSTS lets every account call this machine or network.",
    action: "Name single hosts with a port, such as n8n:5678.",
  },
  no_backup_key: {
    severity: "warning",
    isPrivate: true,
    problem: "The backup key is stored beside the data that it protects.",
    action: "Set WAYGATE_BACKUP_KEY, and keep a copy elsewhere.",
  },
  /** In seconds since the last verified backup. */
  no_recent_backup: {
    severity: "critical",
    limit: 172_800,
    problem: "No backup of the last two days has been verified.",
    action: "Make one with waygate backup. GET /api/admin/backups shows why the daily one failed.",
    rule: "WaygateBackupTooOld",
  },
  held_back: {
    severity: "warning",
    problem: "The jobs that were pending in the restored backup are on hold.",
    action:
      'Release or discard them: POST /api/admin/restored {"action":"release"}, or waygate restore --release.',
    rule: "WaygateProductionBlocked",
  },
  sessions_failing: {
    severity: "warning",
    problem: "The gateway cannot start the sessions of some instances.",
    action: "See last_disconnect_reason of each instance and the log. Then connect them again.",
    rule: "WaygateProductionBlocked",
  },
  queue_withheld: {
    severity: "warning",
    problem: "WhatsApp does not deliver the messages that waited for some instances.",
    action:
      "Reconnect the instances with the attention queue_withheld. If that does not help, link them again.",
    rule: "WaygateProductionBlocked",
  },
  /** In seconds before WhatsApp refuses the version. */
  client_version_expiring: {
    severity: "warning",
    limit: 604_800,
    problem: "WhatsApp refuses this version of its web client within seven days.",
    action:
      "Let this machine reach https://web.whatsapp.com, update Waygate, or set WAYGATE_WHATSAPP_VERSION to a newer version.",
    rule: "WaygateClientVersionExpires",
  },
  operator_only: {
    severity: "warning",
    problem: "There is more that only the operator may see.",
    action: "`waygate doctor` and /health with the administrative token list it.",
  },
  /** In seconds since WhatsApp confirmed a version. */
  client_version_old: {
    severity: "warning",
    limit: 259_200,
    action:
      "Let this machine reach https://web.whatsapp.com, or set WAYGATE_WHATSAPP_VERSION and renew it yourself.",
    rule: "WaygateClientVersionTooOld",
  },
  /** In seconds since the oldest job became due. */
  queue_late: {
    severity: "critical",
    limit: 300,
    warnAt: 60,
    action: "Check that nodes with this role run and that the database is fast, or add a node.",
    rule: "WaygateQueueLate",
  },
  /** In percent of the plan's storage. */
  storage_nearly_full: {
    severity: "critical",
    limit: 100,
    warnAt: 90,
    action: "Shorten how long the account keeps files, or give it a plan with more storage.",
  },
  webhook_disabled: {
    severity: "critical",
    action: "Repair the receiver, set is_active to true again and recover what was missed.",
    rule: "WaygateWebhookDisabled",
  },
  /** Renewed by the key before it. */
  key_renewed: {
    severity: "warning",
    action: "If none of your programs did it, create a new key and report that the old one leaked.",
  },
  /** The share of failed messages. */
  sends_failing: {
    severity: "critical",
    limit: 0.2,
    problem: "One message in five fails, or more.",
    action: "See the errors of its failed messages.",
    rule: "WaygateSendsFailing",
  },
  /** In seconds since the last inbound message. */
  nothing_received: {
    severity: "warning",
    limit: 86_400,
    problem: "Nothing has come in for a day although it sends.",
    action: "Write to it from another phone, and reconnect it.",
  },
  instance_created: { severity: "warning", action: "Connect it and scan the QR with the phone." },
  instance_qr_pending: { severity: "warning", action: "Scan the QR with the phone." },
  instance_qr_expired: { severity: "warning", action: "Connect it again and scan the new QR." },
  instance_passkey_required: { severity: "warning", action: "Confirm the sign-in on the phone." },
  instance_logged_out: {
    severity: "critical",
    action: "The phone has unlinked it: connect it again and scan the QR.",
  },
  instance_banned: {
    severity: "critical",
    action: "The network has banned the number: appeal in the phone's app, or pair another number.",
  },
  instance_error: {
    severity: "warning",
    action: "Reconnect it; last_disconnect_reason says what went wrong.",
    rule: "WaygateInstancesInError",
  },
  instance_reconnecting: {
    severity: "warning",
    action: "It comes back by itself; if it does not, see that the phone is online.",
  },
  instance_disconnected: { severity: "warning", action: "Reconnect it." },
} as const satisfies Record<string, Finding>;

export type FindingKey = keyof typeof FINDINGS;

/** The finding with all its possible fields. */
export function findingOf(key: FindingKey): Finding {
  return FINDINGS[key];
}

/** What is wrong, and what to do. */
export function describeFinding(key: FindingKey): string {
  const { problem, action } = findingOf(key);
  return problem === undefined ? action : `${problem} ${action}`;
}
