import type { DoctorFinding } from "../../core/health/health.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Db } from "../../platform/db/database.ts";
import { FINDINGS } from "../../platform/findings.ts";
import { findBackupAge } from "./read-backup-findings.ts";

/** Checks the backup key and the age of the last verified backup. */
export async function checkBackups(db: Db, config: Pick<Config, "backupKey">): Promise<DoctorFinding[]> {
  const age = (await findBackupAge(db)) ?? 0;
  const isOld = age > FINDINGS.no_recent_backup.limit * 1000;
  const detail = `${Math.floor(age / 3_600_000)} h since the last verified one, or since the installation`;
  const fix = FINDINGS.no_recent_backup.action;
  return [
    config.backupKey
      ? { label: "backup key", grade: "ok", detail: "set" }
      : {
          label: "backup key",
          grade: "warn",
          detail: "generated, and stored beside the data that it protects",
          fix: FINDINGS.no_backup_key.action,
        },
    { label: "backups", grade: isOld ? "warn" : "ok", detail, ...(isOld && { fix }) },
  ];
}
