import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { tablesByOwner } from "../src/core/declared-tables.ts";
import { listSettings, type SettingInfo } from "../src/platform/config/config.ts";
import { packageRoot } from "../src/platform/package-version.ts";
// Fills the declarations of extensions.
import "../src/processes/extensions.ts";
import { errorPage } from "./error-page.ts";
import { describeApi } from "./openapi/describe-api.ts";
import { formatOpenApi } from "./openapi/format-openapi.ts";
import { webhookMessageFile } from "./webhook-message.ts";

const FILES: Readonly<Record<string, () => string>> = {
  "docs/reference/configuration.md": configurationPage,
  "docs/reference/errors.md": errorPage,
  "packages/webhooks/src/webhook-message.ts": webhookMessageFile,
  ".env.example": envExample,
  "ARCHITECTURE.md": architecturePage,
  "openapi.json": () => formatOpenApi(describeApi()),
};

const PAGE_HEAD = `# Configuration

<!-- Written by \`npm run generate\` from src/platform/config/settings.ts. -->

Everything is set by environment variables; with none set, the gateway starts on loopback with its own database.
All problems are reported together before anything starts, and an unknown \`WAYGATE_\` variable is a problem: it may be
a typo. An empty variable counts as not set.

A duration is plain seconds (\`20\`) or a number with a unit: \`500ms\`, \`20s\`, \`15m\`, \`12h\`, \`7d\`. Lists are
comma-separated. Yes and no are \`true\` and \`false\`.
`;

const PAGE_FOOT = `
## Elsewhere

\`WAYGATE_API_KEY\`, \`WAYGATE_INSTANCE_ID\`, \`WAYGATE_EMAIL\`, \`WAYGATE_PASSWORD\` and \`WAYGATE_TOKEN\` belong to the
commands that call a gateway ([Command line](command-line.md)). The gateway accepts them and leaves them alone. The
commands find the gateway by its own \`WAYGATE_BASE_URL\`, or else on this machine by \`WAYGATE_PORT\`.
`;

const ENV_HEAD = `# Written by \`npm run generate\` from src/platform/config/settings.ts. What is commented out shows the default.
# Read it with \`node --env-file=.env bin/waygate.mjs serve\`, or as the env_file of a container.
`;

function configurationPage(): string {
  const rows = listSettings().map((setting) => `${sectionOf(setting)}${rowOf(setting)}`);
  return `${PAGE_HEAD}${rows.join("")}${PAGE_FOOT}`;
}

function sectionOf({ section }: SettingInfo): string {
  return section === undefined ? "" : `\n## ${section}\n\n| Variable | Default | Meaning |\n|---|---|---|\n`;
}

function rowOf({ env, displayed, defaultValue, description }: SettingInfo): string {
  const standard =
    displayed ?? (defaultValue === undefined || defaultValue === "" ? "not set" : `\`${defaultValue}\``);
  return `| \`${env}\` | ${standard} | ${description} |\n`;
}

function envExample(): string {
  const entries = listSettings().map(({ section, env, defaultValue, description }) => {
    const title = section === undefined ? "" : `\n# --- ${section} ---\n`;
    return `${title}\n${commentOf(description)}\n# ${env}=${defaultValue ?? ""}\n`;
  });
  return `${ENV_HEAD}${entries.join("")}`;
}

function commentOf(description: string): string {
  const lines = [""];
  for (const word of description.replaceAll("`", "").split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length < 110) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else {
      lines.push(` ${word}`);
    }
  }
  return lines.map((line) => `#${line}`).join("\n");
}

/** The page with its list of tables by owner, which stands between two comments. */
function architecturePage(): string {
  const page = readFileSync(join(packageRoot(), "ARCHITECTURE.md"), "utf8");
  const [head, , foot] = page.split(/(?<=<!-- Written by `npm run generate`\. -->)|(?=<!-- End -->)/);
  if (foot === undefined) throw new Error("ARCHITECTURE.md does not mark where its list of tables is.");
  const lines = Object.entries(tablesByOwner()).map(([owner, tables]) => {
    return `* ${owner}: ${Object.keys(tables)
      .map((table) => `\`${table}\``)
      .join(", ")}`;
  });
  return `${head}\n\n${lines.toSorted().join("\n")}\n\n${foot}`;
}

function isStale(path: string, text: string): boolean {
  return !existsSync(path) || readFileSync(path, "utf8") !== text;
}

const { values } = parseArgs({ options: { check: { type: "boolean" }, into: { type: "string" } } });
const root = values.into ?? packageRoot();
const stale = Object.entries(FILES)
  .map(([name, write]) => ({ name, path: join(root, name), text: write() }))
  .filter(({ path, text }) => isStale(path, text));

if (values.check) {
  for (const { name } of stale) {
    console.error(`${name} is out of date: run npm run generate`);
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { name, path, text } of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${name}`);
  }
}
