import { createProgram } from "./cli/create-program.ts";

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
