import { sep } from "node:path";
import type { Env } from "../../platform/config/config.ts";
import { packageRoot } from "../../platform/config/package-version.ts";

/** What one types to run this program again: in a checkout, installed, or with npx, which installs nothing to stay. */
export function commandName(env: Env, root = packageRoot()): string {
  if (!root.split(sep).includes("node_modules")) return "node bin/waygate.mjs";
  if (env.npm_command !== "exec") return "waygate";
  const from = env.npm_config_package ?? "";
  return /^[\w@.:/-]+$/.test(from) ? `npx --package=${from} waygate` : "npx waygate";
}
