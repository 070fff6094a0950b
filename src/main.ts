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

/** Errors whose sentence is for whoever runs the command; the others are bugs. */
const SAYS_IT_ALL = new Set(["ConfigError", "StartError", "BrokenPromise"]);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof Error) || !SAYS_IT_ALL.has(error.name)) throw error;
  console.error(error.message);
  process.exit(1);
}
