import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { listSettings } from "../src/platform/config/config.ts";
import { readBlocks } from "./document-blocks.ts";
import { ROOT } from "./source-files.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const COMMANDS = readBlocks("docs/start/install.md")
  .filter(({ language }) => language === "sh")
  .map(({ text }) => text);

/** The block that contains a text. */
function blockWith(text: string): string {
  const block = COMMANDS.find((one) => one.includes(text));
  if (block === undefined) throw new Error(`docs/start/install.md has no command with ${text}.`);
  return block;
}

/** All first groups of a pattern. */
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one = ""]) => one);

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

describe("the page on installing", () => {
  test("names the file that npm pack makes of this version", () => {
    const { name, version } = JSON.parse(read("package.json"));
    const named = matches(read("docs/start/install.md"), /([\w.-]+\.tgz)/g);
    expect(new Set(named)).toEqual(new Set([`${name}-${version}.tgz`]));
    expect(blockWith("npm install --global")).toContain("waygate serve");
  });

  const compose: Json = parse(read("docker-compose.yml"), { merge: true });

  test("names the volume, the build argument and the time to stop of the Docker image", () => {
    const [, volume] = /-v waygate-data:(\S+)/.exec(blockWith("docker run")) ?? [];
    expect(read("Dockerfile")).toMatch(new RegExp(`^VOLUME ${volume}$`, "m"));
    const [, argument] = /--build-arg (\w+)=/.exec(read("docs/start/install.md")) ?? [];
    expect(read("Dockerfile")).toMatch(new RegExp(`^ARG ${argument}=`, "m"));
    const seconds = Number.parseInt(compose.services.waygate.stop_grace_period, 10);
    expect(blockWith("docker run")).toContain(`--stop-timeout ${seconds} `);
  });

  test("sets in .env every variable without which compose does not start", () => {
    const required = matches(read("docker-compose.yml"), /\$\{(\w+):\?/g).filter(
      (name) => !/^(TYPEBOT|CHATWOOT)_/.test(name),
    );
    const input = matches(blockWith("POSTGRES_PASSWORD="), /^(\w+)=/gm);
    expect(input).toEqual(expect.arrayContaining([...new Set(required)]));
    const known = [...listSettings().map(({ env }) => env), "POSTGRES_PASSWORD"];
    expect(known).toEqual(expect.arrayContaining(input));
  });

  test("names every profile of compose, with the variables that it needs", () => {
    const services: Json[] = Object.values(compose.services);
    const profiles = new Set(services.flatMap((service) => service.profiles ?? []));
    expect(new Set(matches(blockWith("--profile"), /--profile (\w+)/g))).toEqual(profiles);
    const page = read("docs/start/install.md");
    const variables = matches(read("docker-compose.yml"), /\$\{((?:TYPEBOT|CHATWOOT)_\w+)/g);
    expect(variables.length).toBeGreaterThan(0);
    expect(variables.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test("runs commands under systemd with the user, the folders and the settings of the unit", () => {
    const unit = read("deploy/systemd/waygate.service");
    const of = (name: string) => new RegExp(`^${name}=-?(.*)$`, "m").exec(unit)?.[1];
    const command = blockWith("systemd-run");
    expect(command).toContain(`--uid=${of("User")} `);
    expect(command).toContain(`-p EnvironmentFile=${of("EnvironmentFile")} `);
    expect(command).toContain(`-p WorkingDirectory=${of("WorkingDirectory")} `);
    expect(command).toContain(`-p Environment=WAYGATE_DATA_DIR=${of("Environment=WAYGATE_DATA_DIR")} `);
    expect(existsSync(join(ROOT, /bin\/\S+\.mjs/.exec(command)?.[0] ?? ""))).toBe(true);
  });

  test("installs the unit from existing files, for the user and into the folder that it names", () => {
    const block = blockWith("useradd");
    const unit = read("deploy/systemd/waygate.service");
    expect(unit).toContain(`User=${/nologin (\w+)$/m.exec(block)?.[1]}\n`);
    expect(unit).toContain(`WorkingDirectory=${/git clone .*> (\S+)/.exec(block)?.[1]}\n`);
    expect(unit).toContain(/--home-dir (\S+)/.exec(block)?.[1]);
    const sources = ["deploy/systemd/waygate.service", ".env.example"];
    for (const source of sources) {
      expect(block).toContain(` ${source} `);
      expect(existsSync(join(ROOT, source))).toBe(true);
    }
  });

  test("sets existing values of the Helm chart", () => {
    const values: Json = parse(read("deploy/helm/values.yaml"));
    const names = matches(blockWith("helm install"), /--set ([\w.]+)=/g);
    expect(names).toContain("secrets.WAYGATE_CLUSTER_SECRET");
    const missing = names.filter(
      (name) => name.split(".").reduce((found: Json, key) => found?.[key], values) === undefined,
    );
    expect(missing).toEqual([]);
    expect(existsSync(join(ROOT, "deploy/helm/Chart.yaml"))).toBe(true);
  });
});
