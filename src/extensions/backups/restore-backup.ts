import { openDatabase } from "../../platform/db/database.ts";
import { migrateDatabase } from "../../platform/db/migrate-database.ts";
import type { LoggedErasure } from "./erasure-log.ts";
import { type LoadBackupOptions, loadBackup } from "./file/load-backup.ts";
import { withConnection } from "./file/write-backup.ts";
import { finishRestore } from "./finish-restore.ts";

/** Restores a backup into an empty database, completely or not at all, with all jobs on hold. */
export async function restoreBackup(
  url: string,
  order: LoadBackupOptions,
  erasures: readonly LoggedErasure[],
): Promise<void> {
  await withConnection(url, "waygate restore", (client) =>
    loadBackup(client, order, (db, header) => finishRestore(db, header, erasures)),
  );
  const database = openDatabase(url, { max: 1, application_name: "waygate restore" });
  try {
    await migrateDatabase(database.db);
    await database.pool.query("analyze");
  } finally {
    await database.close();
  }
}
