import { join } from "node:path";
import type { BackupDeps } from "../extensions/backups/run-backup.ts";
import { toBackupSettings } from "../extensions/backups/to-backup-settings.ts";
import { systemClock } from "../platform/clock.ts";
import type { Config } from "../platform/config/config.ts";
import { loadOrCreateBackupKey } from "../platform/config/data-dir.ts";
import { packageVersion } from "../platform/config/package-version.ts";
import type { Db } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";
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
    settings: toBackupSettings(config),
    clock: systemClock,
  };
}

export function backupDirectory({ backupDir }: Config, dataDir: string): string {
  return backupDir ?? join(dataDir, "backups");
}
