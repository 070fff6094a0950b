import { Command } from "commander";
import type { Env } from "../platform/config/config.ts";
import { packageVersion } from "../platform/config/package-version.ts";
import { addClientCommands } from "./add-client-commands.ts";
import { addOperatorCommands } from "./add-operator-commands.ts";
import { addServerCommands } from "./add-server-commands.ts";

const ROOT_HELP = `
Without a command, Waygate runs serve.

Start here:
  $ waygate try                       send a first message and see what survives a kill, with temporary data
  $ waygate serve                     run it; prints the owner's sign-in and three commands to try
  $ waygate account create --help     every command has its own help

Settings come from the environment: see docs/reference/configuration.md or .env.example.
Exit status: 0 success, 1 failure (the reason is on standard error), 2 invalid command line.`;

/** Every command and option of the program. Their actions load what they need. */
export function createProgram(env: Env): Command {
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
