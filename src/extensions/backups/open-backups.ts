import { join } from "node:path";
import { systemClock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { loadOrCreateBackupKey } from "../../platform/config/data-dir.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Log } from "../../platform/log/log.ts";
import { packageVersion } from "../../platform/package-version.ts";
import type { BackupDeps } from "./run-backup.ts";
import { toBackupSettings } from "./to-backup-settings.ts";

export interface OpenBackupsOptions {
  config: Config;
  dataDir: string;
  db: Db;
  url: string;
  node: string;
  log: Log;
  onProgress?: BackupDeps["onProgress"];
}

/** Directory and key of this node's backups. Throws if the key in the data directory is broken. */
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
    backupKey: config.backupKey?.reveal() ?? (await loadOrCreateBackupKey(dataDir).catch(refuseKey)),
    version: packageVersion(),
    settings: toBackupSettings(config),
    clock: systemClock,
  };
}

export function backupDirectory({ backupDir }: Config, dataDir: string): string {
  return backupDir ?? join(dataDir, "backups");
}

function refuseKey(cause: unknown): never {
  throw new GatewayError("INTERNAL", cause instanceof Error ? cause.message : String(cause), { cause });
}
