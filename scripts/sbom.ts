// Prints what users get, in CycloneDX: what npm installs with the gateway, and what is inside its bundles. To npm the
// latter belong to development, so its whole list is cut here.
import { execFileSync } from "node:child_process";
import { packageRoot } from "../src/platform/package-version.ts";
import { readShippedPackages } from "./dependencies.ts";

interface Bom {
  components: { "bom-ref": string; name: string; version: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const shipped = new Set(readShippedPackages().map(({ name, version }) => `${name}@${version}`));
const bom = readBom();
const components = bom.components.filter(({ name, version }) => shipped.has(`${name}@${version}`));
const included = new Set(components.map((component) => component["bom-ref"]));
const dependencies = bom.dependencies
  .filter(({ ref }) => included.has(ref) || ref.startsWith("waygate@"))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((name) => included.has(name)) }));
console.log(JSON.stringify({ ...bom, components, dependencies }, null, 2));

function readBom(): Bom {
  const options = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const printed = execFileSync("npm", options, {
    cwd: packageRoot(),
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(printed.toString()) as Bom;
}
