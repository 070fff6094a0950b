import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../source-files.ts";

const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const run = promisify(execFile);

export interface PackedPackage {
  path: string;
  /** Bytes of the packed file. */
  size: number;
  unpackedSize: number;
  files: string[];
}

/** Packs one workspace of packages/ into a folder. */
export async function packWorkspace(name: string, into: string): Promise<PackedPackage> {
  return pack(join(ROOT, "packages", name), into);
}

/** Packs the gateway into a folder. Builds it separately, because other tests run programs from dist. */
export async function packGateway(into: string): Promise<PackedPackage> {
  const copy = join(into, "source");
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  await mkdir(copy);
  await writeFile(join(copy, "package.json"), JSON.stringify({ ...manifest, scripts: {} }));
  for (const name of manifest.files) {
    if (!/^!|^dist\//.test(name)) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  }
  const built = join(copy, "dist");
  await run(process.execPath, [TSC, "-p", "tsconfig.build.json", "--outDir", built, "--noCheck"], {
    cwd: ROOT,
  });
  await run(process.execPath, [join(ROOT, "scripts/copy-reference-ui.mjs"), built]);
  // The bundle includes libraries, which are resolved from the compiled modules.
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  await run(process.execPath, [join(ROOT, "scripts/bundle-program.mjs"), built]);
  await rm(join(copy, "node_modules"));
  await run(process.execPath, [join(ROOT, "scripts/build-panel.mjs"), built], { cwd: ROOT });
  return pack(copy, into);
}

async function pack(folder: string, into: string): Promise<PackedPackage> {
  const { stdout } = await run("npm", ["pack", "--silent", "--json", "--pack-destination", into], {
    cwd: folder,
  });
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout);
  const paths = files.map(({ path }: { path: string }) => path);
  return { path: join(into, filename), size, unpackedSize, files: paths };
}

/** Installs packed packages into an empty folder as a user does. `options` are those of `npm install`. */
export async function installPackages(
  folder: string,
  packages: readonly PackedPackage[],
  ...options: string[]
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true,"type":"module"}\n');
  const paths = packages.map(({ path }) => path);
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...options, ...paths], {
    cwd: folder,
    maxBuffer: 16 * 1024 * 1024,
  });
}

/** Type-checks a file as users do, including the declarations of its packages. Throws the compiler's output. */
export async function checkTypes(file: string): Promise<void> {
  const options = ["--noEmit", "--strict", "--target", "es2023", "--lib", "es2023,dom,dom.iterable"];
  const modules = ["--module", "nodenext", "--allowImportingTsExtensions", "--types", "", "--ignoreConfig"];
  await run(process.execPath, [TSC, ...options, ...modules, file]).catch((error) => {
    throw new Error(`${file} has wrong types:\n${error.stdout}`);
  });
}
