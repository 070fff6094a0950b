import type { Extension } from "../../core/extension.ts";
import { NOT_OWNED_HERE } from "../../platform/nodes/add-node-rpc-route.ts";
import { backupLane, recurringBackupJobs } from "./backup-lane.ts";
import { backupHandlers } from "./backups.ts";
import { checkBackups } from "./check-backups.ts";
import { backupsContract } from "./contract.ts";
import { openBackupFile } from "./file/open-backup-file.ts";
import { backupDirectory, openBackups } from "./open-backups.ts";
import { readBackupFindings } from "./read-backup-findings.ts";

export const backupsExtension: Extension = {
  name: "backups",
  contract: backupsContract,
  tables: {
    backup: {
      plain:
        "id status reason trigger file node size checksum key_id rows app_version schema_version created_at started_at finished_at verified_at",
    },
    restore_record: { plain: "id backup backup_at restored_at action decided_at" },
    held_job: {
      plain: "id lane kind prio pos run_at attempts max_attempts",
      deleted: { columns: "grp ref", parts: ["messages"] },
    },
  },
  examine: checkBackups,
  hooks: ({ config, db, dataDir }) => ({
    findings: {
      known: { hasBackupKey: config.backupKey !== undefined },
      read: () => readBackupFindings(db),
    },
    nodeRequests: {
      backup: async ({ file }: { file: string }) =>
        (await openBackupFile(backupDirectory(config, dataDir), file)) ?? NOT_OWNED_HERE,
    },
  }),
  async open({
    config,
    db,
    requestDb,
    databaseUrl: url,
    engine,
    dataDir,
    log,
    outcomes,
    hooks,
    readFromNode,
  }) {
    const deps = await openBackups({ config, dataDir, db, url, node: engine.node.id, log });
    const { directory } = deps;
    return {
      handlers: backupHandlers({
        db: requestDb,
        engine,
        directory,
        readFromNode: (node, file) => readFromNode(node, { name: "backup", input: { file } }),
      }),
      lanes: [backupLane(deps)],
      recurringJobs: recurringBackupJobs({
        ...deps,
        engine,
        repeatErasure: async (entry) => hooks.repeatErasure?.(entry),
        quietHourMs: config.backupAt,
        sendHoldMs: config.sendHoldMs,
        failSend: (send, error) =>
          outcomes.record({ ...send, status: "failed", at: new Date(), error, job: null }),
      }),
    };
  },
};
