// Writes what the package of the client is made of besides its sources: the routes of the contract as plain data, and
// the types. Its argument is the folder.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toClientRoutes } from "../src/client/to-client-routes.ts";
import { contract } from "../src/contract.ts";
import { clientDeclarations } from "./client-declarations.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder to write to: build-client.js <folder>.");

const lines = Object.entries(toClientRoutes(contract)).map(
  ([name, route]) => `  ${name}: ${JSON.stringify(route)},`,
);
writeFileSync(
  join(folder, "index.js"),
  `// Made from the contract of the gateway.
import { createMethods } from "./create-methods.js";

export { WaygateError } from "./waygate-error.js";

const ROUTES = {
${lines.join("\n")}
};

export function createClient(options) {
  return createMethods(ROUTES, options);
}
`,
);
writeFileSync(join(folder, "index.d.ts"), clientDeclarations(contract));
