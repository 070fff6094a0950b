import { Command } from "commander";
import { packageVersion } from "./platform/config/package-version.ts";

const ROOT_HELP = `
Without a command, Waygate runs serve.

Start here:
  $ waygate demo                      see it at work, with temporary data
  $ waygate serve                     run it; prints the owner's sign-in and three commands to try
  $ waygate account create --help     every command has its own help

Settings come from the environment: see docs/reference/configuration.md or .env.example.
Exit status: 0 success, 1 failure (the reason is on standard error), 2 invalid command line.`;

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join("")}`;
}

const SERVE_HELP = `
The first start creates ./data (WAYGATE_DATA_DIR) with a PostgreSQL and a secret key, and prints the owner's sign-in
once. Then http://127.0.0.1:3000 has the guide and the reference. Ctrl-C or SIGTERM stops it gracefully. Accepted messages
and events survive even a kill -9.
`;

const DEMO_HELP = `
It takes less than a minute, needs no phone and no settings, and leaves nothing behind.
`;

const MCP_HELP = `
Environment:
  WAYGATE_API_KEY      the API key of an instance; required
  WAYGATE_BASE_URL     address of the gateway; default http://127.0.0.1:3000
  WAYGATE_INSTANCE_ID  instance for tools that name none; default: that of the key

An AI assistant starts this command. docs/guides/assistant-tools.md has a configuration to copy.
`;

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

const DOCTOR_HELP = `
Each line is one check, with the remedy if it found a problem. The exit status is 1 if a check failed.
`;

const program = new Command("waygate")
  .description("Self-hosted, multi-instance messaging gateway to WhatsApp Web sessions")
  .version(packageVersion())
  .showHelpAfterError(
    "waygate --help lists every command; waygate <command> --help shows one with examples.\nSettings come from the environment, for example WAYGATE_PORT=8080 waygate serve.",
  )
  // Exit code 2 for a usage error, as in the shell; 1 for a failure of the command.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .addHelpText("after", ROOT_HELP);

program
  .command("serve")
  .description(
    "run the gateway: API, sessions and deliveries, on its own PostgreSQL unless DATABASE_URL is set",
  )
  .addHelpText(
    "after",
    SERVE_HELP +
      examples(
        "waygate serve",
        "WAYGATE_PORT=8080 WAYGATE_DATA_DIR=/var/lib/waygate waygate serve",
        "DATABASE_URL=postgres://waygate:...@db/waygate WAYGATE_SECRET_KEY=... waygate serve",
      ),
  )
  .action(async () => {
    const { serve } = await import("./cli/serve.ts");
    await serve(process.env);
  });

program
  .command("demo")
  .description(
    "show the gateway at work with temporary data: two sandbox instances, signed webhooks, recovery from a kill -9",
  )
  .addHelpText("after", DEMO_HELP + examples("waygate demo"))
  .action(async () => {
    const { runDemoCommand } = await import("./cli/demo-command.ts");
    await runDemoCommand(process.env);
  });

program
  .command("mcp")
  .description(
    "serve the assistant tools (MCP) on standard input and output, as a client of a running gateway",
  )
  .addHelpText(
    "after",
    MCP_HELP +
      examples(
        "WAYGATE_BASE_URL=http://127.0.0.1:3000 WAYGATE_API_KEY=wg_... WAYGATE_INSTANCE_ID=1 waygate mcp",
      ),
  )
  .action(async () => {
    const { serveMcp } = await import("./cli/serve-mcp.ts");
    await serveMcp(process.env);
  });

program
  .command("openapi")
  .description("print the OpenAPI 3.1 description of the HTTP API, as JSON")
  .option("--output <file>", "write it to this file instead of standard output")
  .addHelpText("after", examples("waygate openapi --output openapi.json", "waygate openapi | jq .paths"))
  .action(async ({ output }: { output?: string }) => {
    const { printOpenApi } = await import("./cli/print-openapi.ts");
    await printOpenApi(output);
  });

const account = program.command("account").description("manage accounts and users");

account
  .command("create")
  .description("create an account, and print the password of its first user once")
  .requiredOption("--name <name>", "name of the account")
  .requiredOption("--email <email>", "e-mail of its first user")
  .option("--type <type>", "owner, reseller or client", "client")
  .addHelpText(
    "after",
    examples(
      "waygate account create --name Shop --email ana@shop.example",
      "waygate account create --name Partner --email leo@partner.example --type reseller",
    ),
  )
  .action(async (options: { name: string; email: string; type: string }) => {
    const { runCreateAccountCommand } = await import("./cli/account-commands.ts");
    await runCreateAccountCommand(process.env, options);
  });

account
  .command("password")
  .description("set a new password for a user, print it once, and end the user's sign-ins")
  .argument("<email>", "e-mail of the user")
  .option("--account-id <id>", "required if the e-mail belongs to users of several accounts")
  .addHelpText("after", examples("waygate account password ana@shop.example"))
  .action(async (email: string, options: { accountId?: string }) => {
    const { runRecoverUserCommand } = await import("./cli/account-commands.ts");
    await runRecoverUserCommand(process.env, email, options);
  });

program
  .command("key")
  .description("manage the key that encrypts secrets")
  .command("rotate")
  .description("encrypt every secret again with WAYGATE_SECRET_KEY; the gateway may be running")
  .addHelpText(
    "after",
    KEY_HELP + examples("WAYGATE_SECRET_KEY=<new> WAYGATE_SECRET_KEY_SECOND=<old> waygate key rotate"),
  )
  .action(async () => {
    const { runRotateKeyCommand } = await import("./cli/rotate-key-command.ts");
    await runRotateKeyCommand(process.env);
  });

program
  .command("audit")
  .description("work with the audit log")
  .command("verify")
  .description("verify that the audit log is unchanged; otherwise name the first changed entry")
  .option("--head <hash>", "a head that an earlier run printed, which must still exist in the log")
  .addHelpText("after", examples("waygate audit verify", "waygate audit verify --head 9f2c..."))
  .action(async ({ head }: { head?: string }) => {
    const { runVerifyAuditCommand } = await import("./cli/verify-audit-command.ts");
    await runVerifyAuditCommand(process.env, head);
  });

program
  .command("backup")
  .description("make an encrypted backup now, and verify it by restoring it into a temporary database")
  .option("--output <file>", "file to write; default: a new file in the backup directory")
  .addHelpText("after", examples("waygate backup", "waygate backup --output /mnt/backups/waygate.backup"))
  .action(async ({ output }: { output?: string }) => {
    const { runBackupCommand } = await import("./cli/backup-commands.ts");
    await runBackupCommand(process.env, output);
  });

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
      examples(
        "DATABASE_URL=postgres://.../empty waygate restore waygate.backup",
        "waygate restore --release",
        "waygate restore --discard",
      ),
  )
  .action(async (file: string | undefined, options: RestoreChoice, command: Command) => {
    const chosen = [file, options.release, options.discard].filter((one) => one !== undefined);
    if (chosen.length !== 1) command.error("Give a file, --release or --discard.");
    const commands = await import("./cli/backup-commands.ts");
    if (file !== undefined) await commands.runRestoreCommand(process.env, file, options);
    else await commands.runHeldJobsCommand(process.env, options.release ? "release" : "discard");
  });

interface RestoreChoice {
  databaseUrl?: string;
  erasures?: string;
  release?: true;
  discard?: true;
}

program
  .command("doctor")
  .description(
    "check database, disk, clock, keys, media store, sessions, network and port, and name remedies",
  )
  .addHelpText("after", DOCTOR_HELP + examples("waygate doctor"))
  .action(async () => {
    const { doctor } = await import("./cli/doctor.ts");
    if (!(await doctor(process.env))) process.exitCode = 1;
  });

// With --help behind a command that does not exist, commander would show the help of the program.
const [typed = ""] = process.argv.slice(2);
const known = ["help", ...program.commands.map((command) => command.name())];
const isUnknown = typed !== "" && !typed.startsWith("-") && !known.includes(typed);
const argv = isUnknown ? process.argv.slice(0, 3) : process.argv;

/** Errors whose message is meant for the operator; all others are bugs. */
const WITHOUT_STACK = new Set(["ConfigError", "StartError", "DemoFailure"]);

try {
  await program.parseAsync(argv.length > 2 ? argv : [...argv, "serve"]);
} catch (error) {
  if (!(error instanceof Error) || !WITHOUT_STACK.has(error.name)) throw error;
  console.error(error.message);
  process.exit(1);
}
