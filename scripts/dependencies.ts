import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../src/platform/package-version.ts";

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
interface ShippedPackage extends LockedPackage {
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
