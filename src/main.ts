import { Command } from "commander";
import { version } from "./platform/version.ts";

const program = new Command("waygate")
  .description("Self-hosted, multi-instance messaging gateway to WhatsApp Web sessions")
  .version(version())
  .showHelpAfterError()
  .addHelpText("after", "\nSettings come from the environment: see docs/configuration.md or .env.example.");

program
  .command("serve", { isDefault: true })
  .description(
    "run the gateway: API, sessions and deliveries, on its own PostgreSQL unless DATABASE_URL is set",
  )
  .action(async () => {
    const { serve } = await import("./processes/serve.ts");
    await serve(process.env);
  });

program
  .command("demo")
  .description(
    "show the gateway at work on scratch data: two sandbox instances, signed webhooks, a kill -9 survived",
  )
  .action(async () => {
    const { demo } = await import("./processes/demo.ts");
    await demo(process.env);
  });

program
  .command("account")
  .description("accounts from the command line")
  .command("create")
  .description("make an account; prints the password of its first user once")
  .requiredOption("--name <name>", "name of the account")
  .requiredOption("--email <email>", "e-mail of its first user")
  .option("--type <type>", "owner, reseller or client", "client")
  .action(async (options: { name: string; email: string; type: string }) => {
    const { createAccountByCommand } = await import("./processes/commands.ts");
    await createAccountByCommand(process.env, options);
  });

program
  .command("key")
  .description("the key that seals secrets")
  .command("rotate")
  .description("seal every secret anew with WAYGATE_SECRET_KEY; the gateway may run meanwhile")
  .action(async () => {
    const { rotateKeyByCommand } = await import("./processes/commands.ts");
    await rotateKeyByCommand(process.env);
  });

program
  .command("audit")
  .description("the audit log")
  .command("verify")
  .description("tell whether the audit log is as it was written, and if not, name the first broken entry")
  .option("--head <hash>", "a head that an earlier run has printed, which must still be there")
  .action(async ({ head }: { head?: string }) => {
    const { verifyAuditByCommand } = await import("./processes/commands.ts");
    await verifyAuditByCommand(process.env, head);
  });

/** Errors whose sentence is for whoever runs the command; the others are bugs. */
const SAYS_IT_ALL = new Set(["ConfigError", "StartError", "BrokenPromise"]);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof Error) || !SAYS_IT_ALL.has(error.name)) throw error;
  console.error(error.message);
  process.exit(1);
}
