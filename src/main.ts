import { Command } from "commander";
import { addClientCommands } from "./cli/add-client-commands.ts";
import { addServerCommands } from "./cli/add-server-commands.ts";
import { addOperatorCommands } from "./cli/operator/add-operator-commands.ts";
import type { Env } from "./platform/config/config.ts";
import { packageVersion } from "./platform/package-version.ts";

const ROOT_HELP = `
Without a command, Waygate runs serve.

Start here:
  $ waygate try                       send a first message and see what survives a kill, with temporary data
  $ waygate serve                     run it; prints the owner's sign-in and three commands to try
  $ waygate account create --help     every command has its own help

Settings come from the environment: see docs/reference/configuration.md or .env.example.
Exit status: 0 success, 1 failure (the reason is on standard error), 2 invalid command line.`;

const program = createProgram(process.env);

// With --help behind a command that does not exist, commander would show the help of the program.
const [typed = ""] = process.argv.slice(2);
const known = ["help", ...program.commands.map((command) => command.name())];
const isUnknown = typed !== "" && !typed.startsWith("-") && !known.includes(typed);
const argv = isUnknown ? process.argv.slice(0, 3) : process.argv;

/** Errors whose message is meant for the operator; all others are bugs. */
const WITHOUT_STACK = new Set(["ConfigError", "StartError", "DemoFailure", "CommandError", "UsageError"]);

try {
  await program.parseAsync(argv.length > 2 ? argv : [...argv, "serve"]);
} catch (error) {
  if (!(error instanceof Error) || !WITHOUT_STACK.has(error.name)) throw error;
  console.error(error.message);
  process.exit(error.name === "UsageError" ? 2 : 1);
}

/** Every command and option of the program. Their actions load what they need. */
function createProgram(env: Env): Command {
  const program = new Command("waygate")
    .description("Self-hosted, multi-instance messaging gateway to WhatsApp Web sessions")
    .version(packageVersion())
    .showHelpAfterError(
      "waygate --help lists every command; waygate <command> --help shows one with examples.\nSettings come from the environment, for example WAYGATE_PORT=8080 waygate serve.",
    )
    // Exit code 2 for a usage error, as in the shell; 1 for a failure of the command.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .addHelpText("after", ROOT_HELP);
  addServerCommands(program, env);
  addClientCommands(program, env);
  addOperatorCommands(program, env);
  return program;
}
