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

What users get. A *bundled* package is inside the program or the panel, whose \`licenses.md\` has its notice. npm installs the
others with the gateway, an *optional* one where it fits the machine. \`npm run --silent sbom\` prints the same in CycloneDX.

\`libsignal\`, which Baileys needs, is under the GPL 3.0: to pass on an image or a package with it, fulfil that licence. The
libraries inside \`@img/sharp-*\` and \`libheif-js\` (libheif and libde265 as WebAssembly) are under the LGPL and are linked
dynamically.

Baileys 7.0.0-rc14 names \`whatsapp-rust-bridge\` 0.5.4, which declares MIT. Its one file contains WebAssembly with the paths
of files of \`wacore/libsignal\` in [whatsapp-rust](https://github.com/oxidezap/whatsapp-rust). 31 files of that folder name
AGPL-3.0-only and Signal Messenger, LLC in their headers, under a manifest that says MIT. Waygate contains none of it:
\`packages/baileys-crypto\`, its own code, takes the place of the package in the program, in its image and in a checkout
(\`overrides\` in \`package.json\`), and Baileys is bundled, since npm would install that package with it.
`;

/** The kinds of packages, in the order of the page. */
const KINDS: Readonly<Record<string, (one: ShippedPackage) => boolean>> = {
  Bundled: ({ isBundled }) => isBundled,
  Installed: ({ isBundled, isOptional }) => !isBundled && !isOptional,
  Optional: ({ isBundled, isOptional }) => !isBundled && isOptional,
};

/** docs/contributing/dependencies.md. */
export function dependenciesPage(): string {
  const shipped = readShippedPackages();
  const licences = [...new Set(shipped.map(({ license }) => license))].sort();
  const lists = Object.entries(KINDS).flatMap(([kind, isKind]) =>
    licences.map((licence) => {
      const packages = shipped.filter((one) => isKind(one) && one.license === licence);
      return packages.length === 0 ? "" : listOf(`${kind}: ${licence}`, packages);
    }),
  );
  return `${PAGE_HEAD}${lists.join("")}`;
}

function listOf(heading: string, packages: readonly ShippedPackage[]): string {
  const lines = packages.map(({ name, version }) => `\`${name}\` ${version}`);
  return `\n## ${heading}\n\n${[...new Set(lines)].join(",\n")}\n`;
}
