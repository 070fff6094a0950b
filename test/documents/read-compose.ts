import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "yaml";
import { ROOT } from "../source-files.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

/** A Docker Compose file with its `.env`. */
export interface ComposeFile {
  services: Record<string, Json>;
  /** Environment of a container: image, then `.env`, then `environment`. */
  environmentOf(service: string): Record<string, string>;
}

/** Throws if a required variable is missing in `.env`. */
export function readCompose(path: string, dotEnv: string): ComposeFile {
  const variables = toVariables(dotEnv);
  const text = readFileSync(join(ROOT, path), "utf8");
  const { services } = interpolateAll(parse(text, { merge: true }), variables);
  return {
    services,
    environmentOf(name) {
      const { build, env_file, environment = {} } = services[name];
      const ofFile = env_file?.some((file: Json) => file.path === ".env") ? variables : {};
      return { ...(build ? imageVariables() : {}), ...ofFile, ...environment };
    },
  };
}

function toVariables(dotEnv: string): Record<string, string> {
  const entries = Object.entries(parseEnv(dotEnv));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? ""]));
}

/** Leaves keys unchanged, as Compose does. */
function interpolateAll(value: Json, variables: Record<string, string>): Json {
  if (typeof value === "string") return interpolate(value, variables);
  if (Array.isArray(value)) return value.map((one) => interpolateAll(one, variables));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, interpolateAll(one, variables)]));
}

const VARIABLE = /\$(?:(\$)|\{(\w+)(?:(:?[-?])([^}]*))?\}|(\w+))/g;

function interpolate(text: string, variables: Record<string, string>): string {
  return text.replaceAll(VARIABLE, (_, dollar, braced, operator = "", word = "", bare) => {
    if (dollar !== undefined) return "$";
    const name: string = braced ?? bare;
    const value = variables[name];
    const isMissing = value === undefined || (operator.startsWith(":") && value === "");
    if (!isMissing) return value;
    if (operator.endsWith("?")) throw new Error(`required variable ${name} is missing a value: ${word}`);
    return operator.endsWith("-") ? word : "";
  });
}

function imageVariables(): Record<string, string> {
  const lines = readFileSync(join(ROOT, "Dockerfile"), "utf8").replaceAll(/\\\n/g, " ").split("\n");
  const pairs = lines
    .filter((line) => line.startsWith("ENV "))
    .flatMap((line) => [...line.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]));
  return Object.fromEntries(pairs);
}
