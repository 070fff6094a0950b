import type { Command } from "commander";
import type { Env } from "../../platform/config/config.ts";
import { helpExamples } from "../help-examples.ts";
import { addBackupCommands } from "./add-backup-commands.ts";

/** The commands of the operator that work on the database. */
export function addOperatorCommands(program: Command, env: Env): void {
  const account = program.command("account").description("manage accounts and users");
  addAccountCreate(account, env);
  addAccountPassword(account, env);
  addKeyRotate(program, env);
  addAuditVerify(program, env);
  addBackupCommands(program, env);
}

const KEY_HELP = `
Secrets in the database (sessions, webhook secrets, tokens) are encrypted with WAYGATE_SECRET_KEY. To change it:
  1. several nodes only: restart each with the new key as WAYGATE_SECRET_KEY_SECOND
  2. restart with the new key as WAYGATE_SECRET_KEY and the old one as WAYGATE_SECRET_KEY_SECOND
  3. run this command with the same two settings; if it is interrupted, run it again
  4. when the sign-ins made with the old key have expired (WAYGATE_JWT_LIFETIME), restart without WAYGATE_SECRET_KEY_SECOND
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
