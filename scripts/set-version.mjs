// Writes a version (first argument) into everything that has one, except what `npm run generate` writes, and gives the
// section Unreleased of the changelog that version and today's date. Second argument: another checkout.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [version = "", root = fileURLToPath(new URL("..", import.meta.url))] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  console.error("Give a version such as 2.1.0 or 2.1.0-rc.1.");
  process.exit(2);
}

function rewrite(path, change) {
  const before = readFileSync(join(root, path), "utf8");
  const after = change(before);
  if (after !== before) writeFileSync(join(root, path), after);
}

const previous = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8")).version;
const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// The n8n node is no workspace.
for (const folder of [".", ...workspaces, "packages/n8n-nodes-waygate"])
  rewrite(`${folder}/package.json`, (text) => text.replace(/("version": ")[^"]+/, `$1${version}`));

rewrite("package-lock.json", (text) => {
  const lock = JSON.parse(text);
  lock.version = version;
  for (const name of ["", ...workspaces]) lock.packages[name].version = version;
  return `${JSON.stringify(lock, null, 2)}\n`;
});

rewrite("deploy/helm/Chart.yaml", (text) =>
  text
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^appVersion: .*$/m, `appVersion: "${version}"`),
);

// The name of the file that npm pack makes.
for (const page of readdirSync(join(root, "docs"), { recursive: true }).filter((name) =>
  name.endsWith(".md"),
))
  rewrite(join("docs", page), (text) => text.replaceAll(`waygate-${previous}.tgz`, `waygate-${version}.tgz`));

// A release candidate keeps the section: its changes belong to the release.
if (!version.includes("-")) {
  const heading = `## ${version} - ${new Date().toISOString().slice(0, 10)}`;
  rewrite("CHANGELOG.md", (text) =>
    text.includes(`\n## ${version} - `)
      ? text
      : text.replace(/^## Unreleased$/m, `## Unreleased\n\n${heading}`),
  );
}
