import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/platform/config/package-version.ts";

/** A package of the lock file, as npm records it. */
export interface LockedPackage {
  name: string;
  version: string;
  license: string;
  /** Only development installs it. */
  isDev: boolean;
  /** npm installs it where it fits, for example for another processor. */
  isOptional: boolean;
  hasInstallScript: boolean;
  integrity: string | undefined;
  /** Versions of Node that it supports, when it says so. */
  node: string | undefined;
  /** Where it comes from, when the lock file says so. */
  resolved: string | undefined;
}

interface LockEntry {
  version?: string;
  license?: string;
  dev?: true;
  optional?: true;
  devOptional?: true;
  /** A workspace of this repository. */
  link?: true;
  hasInstallScript?: true;
  integrity?: string;
  resolved?: string;
  engines?: { node?: string };
}

/** Every package that package-lock.json installs, sorted by name and version. */
export function readLockedPackages(root = packageRoot()): LockedPackage[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const entries = Object.entries(lock.packages as Record<string, LockEntry>).filter(
    ([path, { link }]) => path.startsWith("node_modules/") && !link,
  );
  return entries.map(toPackage).sort((a, b) => order(a.name, b.name) || order(a.version, b.version));
}

/** Where the builds write the notices of what they have put into their bundles. */
const BUNDLES = ["dist/program/licenses.md", "dist/panel/licenses.md"];
const NOTICE_HEADING = /^## (\S+) - (\S+) \(/gm;

/** A package of the lock file that users get. */
export interface ShippedPackage extends LockedPackage {
  /** It is inside the program or the panel, and not installed beside them. */
  isBundled: boolean;
}

/** The packages that users get: those that npm installs with the gateway, and those inside its bundles. */
export function readShippedPackages(root = packageRoot()): ShippedPackage[] {
  const bundled = new Set(
    BUNDLES.flatMap((path) => [...readFileSync(join(root, path), "utf8").matchAll(NOTICE_HEADING)]).map(
      ([, name, version]) => `${name}@${version}`,
    ),
  );
  return readLockedPackages(root)
    .map((one) => ({ ...one, isBundled: one.isDev && bundled.has(`${one.name}@${one.version}`) }))
    .filter(({ isDev, isBundled }) => !isDev || isBundled);
}

function toPackage([path, entry]: [string, LockEntry]): LockedPackage {
  return {
    name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    version: entry.version ?? "",
    license: entry.license ?? "unknown",
    isDev: entry.dev === true,
    isOptional: entry.optional === true || entry.devOptional === true,
    hasInstallScript: entry.hasInstallScript === true,
    integrity: entry.integrity,
    node: entry.engines?.node,
    resolved: entry.resolved,
  };
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

const PAGE_HEAD = `# Dependencies

<!-- Written by \`npm run generate\` from package-lock.json and the notices of the bundles. -->

What users get. A *bundled* package is inside the program or the panel, whose \`licenses.md\` has its notice; npm installs the
others with the gateway, an *optional* one only where it fits the machine. The same list for tools, in CycloneDX:
\`npm run --silent sbom\`.

\`libsignal\`, which Baileys needs, is under the GPL 3.0. Whoever passes an image or a package with it on to others has to
fulfil that licence. The libraries inside \`@img/sharp-*\` are under the LGPL and are linked dynamically, and so is
\`libheif-js\`, WebAssembly of libheif and libde265, which a thread of its own loads for a HEIC picture.

Baileys 7.0.0-rc14 also names \`whatsapp-rust-bridge\` 0.5.4, and imports four things of it: \`md5\`, \`hkdf\`,
\`expandAppStateKeys\` and \`LTHashAntiTampering\`. That package declares MIT. Its one file contains 739 kB of WebAssembly,
with the paths of files of \`wacore/libsignal\` in [whatsapp-rust](https://github.com/oxidezap/whatsapp-rust). In that
repository, 31 files of this folder name AGPL-3.0-only and Signal Messenger, LLC in their headers, under a manifest that
says MIT. Waygate contains none of it: \`packages/baileys-crypto\`, which is its own code, takes the place of the package
in the program, in its image and in a checkout (\`overrides\` in \`package.json\`). For the same reason Baileys is bundled:
npm would install that package with it.

| Package | Version | Licence |
|---|---|---|
`;

/** docs/contributing/dependencies.md. */
export function dependenciesPage(): string {
  const rows = readShippedPackages().map(({ name, version, license, isOptional, isBundled }) => {
    const kind = isBundled ? " (bundled)" : isOptional ? " (optional)" : "";
    return `| \`${name}\` | ${version}${kind} | ${license} |\n`;
  });
  return `${PAGE_HEAD}${[...new Set(rows)].join("")}`;
}
