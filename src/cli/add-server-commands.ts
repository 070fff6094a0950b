import type { Command } from "commander";
import type { Env } from "../platform/config/config.ts";
import { helpExamples } from "./help-examples.ts";
import type { PrintOptions } from "./print-openapi.ts";

/** The commands that run or describe the gateway. */
export function addServerCommands(program: Command, env: Env): void {
  addServe(program, env);
  addMcp(program, env);
  addOpenApi(program);
  addDoctor(program, env);
}

const SERVE_HELP = `
The first start creates ./data (WAYGATE_DATA_DIR) with a PostgreSQL and a secret key, and prints the owner's sign-in
once. Then http://127.0.0.1:3000 has the guide and the reference. Ctrl-C or SIGTERM stops it gracefully. Accepted messages
and events survive even a kill -9.
`;

const MCP_HELP = `
Environment:
  WAYGATE_API_KEY      the API key of an instance; required
  WAYGATE_BASE_URL     address of the gateway; default http://127.0.0.1 at WAYGATE_PORT, or 3000
  WAYGATE_INSTANCE_ID  instance for tools that name none; default: that of the key

An AI assistant starts this command. docs/guides/assistant-tools.md has a configuration to copy.
`;

const DOCTOR_HELP = `
Each line is one check, with the remedy if it found a problem. The exit status is 1 if a check failed.
`;

function addServe(program: Command, env: Env): void {
  program
    .command("serve")
    .description(
      "run the gateway: API, sessions and deliveries, on its own PostgreSQL unless DATABASE_URL is set",
    )
    .addHelpText(
      "after",
      SERVE_HELP +
        helpExamples(
          "waygate serve",
          "WAYGATE_PORT=8080 WAYGATE_DATA_DIR=/var/lib/waygate waygate serve",
          "DATABASE_URL=postgres://waygate:...@db/waygate WAYGATE_SECRET_KEY=... waygate serve",
        ),
    )
    .action(async () => {
      const { serve } = await import("./serve.ts");
      await serve(env);
    });
}

function addMcp(program: Command, env: Env): void {
  program
    .command("mcp")
    .description(
      "serve the assistant tools (MCP) on standard input and output, as a client of a running gateway",
    )
    .addHelpText(
      "after",
      MCP_HELP +
        helpExamples(
          "WAYGATE_BASE_URL=http://127.0.0.1:3000 WAYGATE_API_KEY=wg_... WAYGATE_INSTANCE_ID=1 waygate mcp",
        ),
    )
    .action(async () => {
      const { serveMcp } = await import("./serve-mcp.ts");
      await serveMcp(env);
    });
}

function addOpenApi(program: Command): void {
  program
    .command("openapi")
    .description("print the OpenAPI description of the HTTP API, as JSON")
    .option("--output <file>", "write it to this file instead of standard output")
    .addHelpText(
      "after",
      helpExamples("waygate openapi | jq .paths", "waygate openapi --output openapi.json"),
    )
    .action(async (options: PrintOptions) => {
      const { printOpenApi } = await import("./print-openapi.ts");
      await printOpenApi(options);
    });
}

function addDoctor(program: Command, env: Env): void {
  program
    .command("doctor")
    .description(
      "check database, disk, clock, keys, media store, sessions, network and port, and name remedies",
    )
    .option("--json", "print the result as one JSON object without secrets, for an issue or a script")
    .addHelpText("after", DOCTOR_HELP + helpExamples("waygate doctor", "waygate doctor --json"))
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import("./doctor.ts");
      if (!(await doctor(env, options))) process.exitCode = 1;
    });
}
