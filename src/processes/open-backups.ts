import { join } from "node:path";
import type { BackupDeps } from "../features/backups/run-backup.ts";
import { systemClock } from "../platform/clock.ts";
import type { Config } from "../platform/config/config.ts";
import { loadOrCreateBackupKey } from "../platform/config/data-dir.ts";
import { packageVersion } from "../platform/config/package-version.ts";
import type { Db } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";
import { maskUrl } from "../platform/outgoing/mask-url.ts";
import { Secret } from "../platform/secrets/secret.ts";
import { rethrowAsStartError } from "./start-error.ts";

export interface OpenBackupsOptions {
  config: Config;
  dataDir: string;
  db: Db;
  url: string;
  node: string;
  log: Log;
  onProgress?: BackupDeps["onProgress"];
}

/** Directory and key of this node's backups. Throws StartError if the key in the data directory is broken. */
export async function openBackups({
  config,
  dataDir,
  db,
  url,
  node,
  log,
  onProgress,
}: OpenBackupsOptions): Promise<BackupDeps> {
  return {
    db,
    url,
    node,
    log,
    onProgress,
    directory: backupDirectory(config, dataDir),
    backupKey:
      config.backupKey?.reveal() ?? (await loadOrCreateBackupKey(dataDir).catch(rethrowAsStartError)),
    version: packageVersion(),
    settings: openSettings(config),
    clock: systemClock,
  };
}

export function backupDirectory({ backupDir }: Config, dataDir: string): string {
  return backupDir ?? join(dataDir, "backups");
}

/** The settings without secrets: every reader of the database may see them. */
function openSettings(config: Config): Record<string, unknown> {
  const open = Object.entries(config).filter(
    ([name, value]) => !(value instanceof Secret) && name !== "ownerEmail" && name !== "faultPoint",
  );
  return Object.fromEntries(open.map(([name, value]) => [name, isUrl(value) ? maskUrl(value) : value]));
}

function isUrl(value: unknown): value is string {
  return typeof value === "string" && value.includes("://");
}
