import { expect, test } from "vitest";
import { commandName } from "./command-name.ts";

const INSTALLED = "/usr/lib/node_modules/waygate";

test.each([
  ["in a checkout", {}, "/home/me/waygate", "node bin/waygate.mjs"],
  ["by a script of a checkout", { npm_command: "run" }, "/home/me/waygate", "node bin/waygate.mjs"],
  ["by npx in a checkout", { npm_command: "exec" }, "/home/me/waygate", "node bin/waygate.mjs"],
  ["installed", {}, INSTALLED, "waygate"],
  ["by npx", { npm_command: "exec" }, INSTALLED, "npx waygate"],
  [
    "by npx from a file",
    { npm_command: "exec", npm_config_package: "/tmp/waygate-2.0.0.tgz" },
    INSTALLED,
    "npx --package=/tmp/waygate-2.0.0.tgz waygate",
  ],
  [
    "by npx with several packages",
    { npm_command: "exec", npm_config_package: "a\n\nb" },
    INSTALLED,
    "npx waygate",
  ],
])("a program that runs %s is run again in the same way", (_, env, root, name) => {
  expect(commandName(env, root)).toBe(name);
});
