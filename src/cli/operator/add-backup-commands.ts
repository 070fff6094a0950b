import type { Command } from "commander";
import type { Env } from "../../platform/config/config.ts";
import { helpExamples } from "../help-examples.ts";

export function addBackupCommands(program: Command, env: Env): void {
  addBackup(program, env);
  addRestore(program, env);
}

const RESTORE_HELP = `
Set WAYGATE_BACKUP_KEY and WAYGATE_SECRET_KEY to the values of the gateway that made the backup. Jobs that were pending
in it are on hold until you run --release or --discard. docs/operation/backups.md describes every step.
`;

function addBackup(program: Command, env: Env): void {
  program
    .command("backup")
    .description("make an encrypted backup now, and verify it by restoring it into a temporary database")
    .option("--output <file>", "file to write; default: a new file in the backup directory")
    .addHelpText(
      "after",
      helpExamples("waygate backup", "waygate backup --output /mnt/backups/waygate.backup"),
    )
    .action(async ({ output }: { output?: string }) => {
      const { runBackupCommand } = await import("./backup-commands.ts");
      await runBackupCommand(env, output);
    });
}

interface RestoreChoice {
  databaseUrl?: string;
  erasures?: string;
  release?: true;
  discard?: true;
}

function addRestore(program: Command, env: Env): void {
  program
    .command("restore")
    .description("restore a backup into an empty database, or decide about the jobs on hold after a restore")
    .argument("[file]", "the backup file")
    .option(
      "--database-url <url>",
      "the empty database; default: that of the settings; - reads it from standard input",
    )
    .option("--erasures <from>", "erasures since the backup: a file, or the URL of the former database")
    .option("--release", "send and deliver the jobs that were pending in the backup")
    .option("--discard", "discard the jobs that were pending in the backup")
    .addHelpText(
      "after",
      RESTORE_HELP +
        helpExamples(
          "DATABASE_URL=postgres://.../empty waygate restore waygate.backup",
          "waygate restore --release",
          "waygate restore --discard",
        ),
    )
    .action(async (file: string | undefined, options: RestoreChoice, command: Command) => {
      const chosen = [file, options.release, options.discard].filter((one) => one !== undefined);
      if (chosen.length !== 1) command.error("Give a file, --release or --discard.");
      const commands = await import("./backup-commands.ts");
      if (file !== undefined) await commands.runRestoreCommand(env, file, options);
      else await commands.runHeldJobsCommand(env, options.release ? "release" : "discard");
    });
}
