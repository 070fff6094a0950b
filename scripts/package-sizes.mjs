// Packs the four packages of a checkout, installs each into an empty folder, and prints their sizes and dependencies as
// Markdown. `npm run sizes`, or `npm run sizes -- <another checkout>`, whose dependencies are installed.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const checkout = resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)));
const HEAVIEST = 10;

const scratch = mkdtempSync(join(tmpdir(), "waygate-sizes-"));
try {
  const measured = ["packages/webhooks", "packages/client", "packages/n8n-nodes-waygate", "."]
    .filter((folder) => existsSync(join(checkout, folder, "package.json")))
    .map(measure)
    .reverse();
  console.log(`${tableOf(measured)}\n\n${dependenciesOf(measured[0])}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function measure(folder) {
  const options = ["pack", "--silent", "--json", "--pack-destination", scratch];
  const [packed] = JSON.parse(npm(join(checkout, folder), options));
  const { name, version, size, unpackedSize, filename, entryCount } = packed;
  const home = join(scratch, `${filename}-installed`);
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), '{"private":true}\n');
  const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
  // n8n provides the library of its nodes.
  const peers = name.startsWith("n8n-nodes-") ? ["--legacy-peer-deps"] : [];
  npm(home, ["install", "--silent", ...quiet, ...peers, join(scratch, filename)]);
  const lock = JSON.parse(readFileSync(join(home, "package-lock.json"), "utf8"));
  const packages = Object.entries(lock.packages)
    .filter(([path]) => path !== "" && existsSync(join(home, path)))
    .map(([path, { hasInstallScript = false }]) => ({
      name: path.split("node_modules/").at(-1),
      bytes: bytesBelow(join(home, path), "node_modules"),
      hasInstallScript,
    }));
  return { name, version, size, unpackedSize, entryCount, packages };
}

function npm(cwd, options) {
  return execFileSync("npm", options, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", 2],
    maxBuffer: 2 ** 26,
  });
}

/** Bytes of the files below a folder, without those in folders of a name. */
function bytesBelow(folder, except) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== except)
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? bytesBelow(path, except) : lstatSync(path).size;
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}

function tableOf(measured) {
  const rows = measured.map(({ name, version, size, unpackedSize, entryCount, packages }) => {
    const own = `${inUnit(size)} | ${inUnit(unpackedSize)} in ${entryCount} files`;
    return `| \`${name}\` ${version} | ${own} | ${inUnit(totalOf(packages))} in ${packages.length} ${packages.length === 1 ? "package" : "packages"} |`;
  });
  const head = ["| Package | Packed | Unpacked | Installed with its dependencies |", "|---|---|---|---|"];
  return [...head, ...rows].join("\n");
}

function dependenciesOf({ name, packages }) {
  const others = packages
    .filter((one) => one.name !== name)
    .toSorted((one, other) => other.bytes - one.bytes);
  const rows = others.slice(0, HEAVIEST).map((one) => `| \`${one.name}\` | ${inUnit(one.bytes)} |`);
  const rest = others.slice(HEAVIEST);
  const scripts = others.filter(({ hasInstallScript }) => hasInstallScript).map((one) => `\`${one.name}\``);
  return [
    `| Heaviest dependencies of \`${name}\` | Installed |`,
    "|---|---|",
    ...rows,
    `| the other ${rest.length} | ${inUnit(totalOf(rest))} |`,
    `\nWith an install script: ${scripts.join(", ") || "none"}.`,
  ].join("\n");
}

function totalOf(packages) {
  return packages.reduce((sum, { bytes }) => sum + bytes, 0);
}

function inUnit(bytes) {
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
