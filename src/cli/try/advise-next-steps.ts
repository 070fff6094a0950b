import type { Env } from "../../platform/config/config.ts";
import { commandName } from "./command-name.ts";
import { REPLYING_NUMBER } from "./try-steps.ts";

export interface TriedGateway {
  baseUrl: string;
  id: number;
  apiKey: string;
  /** Whether the instance still exists. */
  keep: boolean;
  /** Of a temporary gateway. */
  owner?: { email: string; password: string };
  env: Env;
}

/** What to do next, as lines to read and to paste. */
export function adviseNextSteps({ baseUrl, id, apiKey, keep, owner, env }: TriedGateway): string[] {
  const waygate = commandName(env);
  const isGone = owner !== undefined && !keep;
  const url = isGone ? "http://127.0.0.1:3000" : baseUrl;
  const lines = ["", "It works. Next:", ""];
  if (isGone)
    lines.push("  Run a gateway of your own; it prints the owner's sign-in:", `    ${waygate} serve`, "");
  if (owner !== undefined && keep)
    lines.push(`  Sign in at ${url}/docs: ${owner.email}, password ${owner.password}`, "");
  const [shownId, key] = keep ? [String(id), apiKey] : ["$ID", "$KEY"];
  const which = keep ? "this instance" : "your instance (ID and KEY are in the response that creates it)";
  return [
    ...lines,
    `  Send with ${which}:`,
    `    curl -s ${url}/api/v1/instances/${shownId}/send-text -H "x-api-key: ${key}" \\`,
    `      -H 'content-type: application/json' -d '{"number":"${REPLYING_NUMBER}","text":"Hello"}'`,
    `    WAYGATE_API_KEY=${key} ${waygate} send ${REPLYING_NUMBER} Hello --url ${url} --instance ${shownId}`,
    "",
    "  See its events, or pass them on to your program:",
    `    WAYGATE_API_KEY=${key} ${waygate} listen --url ${url} --instance ${shownId} --forward http://localhost:8000/`,
    "",
    `  Read on: ${url}/docs/waygate (guide), ${url}/docs (every route)`,
  ];
}
