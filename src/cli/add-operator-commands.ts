import type { Command } from "commander";
import type { Env } from "../platform/config/config.ts";
import { helpExamples } from "./help-examples.ts";

/** The commands of the operator that work on the database. */
export function addOperatorCommands(program: Command, env: Env): void {
  const account = program.command("account").description("manage accounts and users");
  addAccountCreate(account, env);
  addAccountPassword(account, env);
  addKeyRotate(program, env);
  addAuditVerify(program, env);
  addBackup(program, env);
  addRestore(program, env);
}

const KEY_HELP = `
Secrets in the database (sessions, webhook secrets, tokens) are encrypted with WAYGATE_SECRET_KEY. To change it:
  1. several nodes only: restart each with the new key as WAYGATE_SECRET_KEY_SECOND
  2. restart with the new key as WAYGATE_SECRET_KEY and the old one as WAYGATE_SECRET_KEY_SECOND
  3. run this command with the same two settings; if it is interrupted, run it again
  4. when the sign-ins made with the old key have expired (WAYGATE_JWT_LIFETIME), restart without WAYGATE_SECRET_KEY_SECOND
`;

const RESTORE_HELP = `
Set WAYGATE_BACKUP_KEY and WAYGATE_SECRET_KEY to the values of the gateway that made the backup. Jobs that were pending
in it are on hold until you run --release or --discard. docs/operation/backups.md describes every step.
`;

function addAccountCreate(account: Command, env: Env): void {
  account
    .command("create")
    .description("create an account, and print the password of its first user once")
    .requiredOption("--name <name>", "name of the account")
    .requiredOption("--email <email>", "e-mail of its first user")
    .option("--type <type>", "owner, reseller or client", "client")
    .addHelpText(
      "after",
      helpExamples(
        "waygate account create --name Shop --email ana@shop.example",
        "waygate account create --name Partner --email leo@partner.example --type reseller",
      ),
    )
    .action(async (options: { name: string; email: string; type: string }) => {
      const { runCreateAccountCommand } = await import("./account-commands.ts");
      await runCreateAccountCommand(env, options);
    });
}

function addAccountPassword(account: Command, env: Env): void {
  account
    .command("password")
    .description("set a new password for a user, print it once, and end the user's sign-ins")
    .argument("<email>", "e-mail of the user")
    .option("--account-id <id>", "required if the e-mail belongs to users of several accounts")
    .addHelpText("after", helpExamples("waygate account password ana@shop.example"))
    .action(async (email: string, options: { accountId?: string }) => {
      const { runRecoverUserCommand } = await import("./account-commands.ts");
      await runRecoverUserCommand(env, email, options);
    });
}

function addKeyRotate(program: Command, env: Env): void {
  program
    .command("key")
    .description("manage the key that encrypts secrets")
    .command("rotate")
    .description("encrypt every secret again with WAYGATE_SECRET_KEY; the gateway may be running")
    .addHelpText(
      "after",
      KEY_HELP + helpExamples("WAYGATE_SECRET_KEY=<new> WAYGATE_SECRET_KEY_SECOND=<old> waygate key rotate"),
    )
    .action(async () => {
      const { runRotateKeyCommand } = await import("./rotate-key-command.ts");
      await runRotateKeyCommand(env);
    });
}

function addAuditVerify(program: Command, env: Env): void {
  program
    .command("audit")
    .description("work with the audit log")
    .command("verify")
    .description("verify that the audit log is unchanged; otherwise name the first changed entry")
    .option("--head <hash>", "a head that an earlier run printed, which must still exist in the log")
    .addHelpText("after", helpExamples("waygate audit verify", "waygate audit verify --head 9f2c..."))
    .action(async ({ head }: { head?: string }) => {
      const { runVerifyAuditCommand } = await import("./verify-audit-command.ts");
      await runVerifyAuditCommand(env, head);
    });
}

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
