import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../src/platform/config/config.ts";
import { type ComposeFile, readCompose } from "./documents/read-compose.ts";
import { ROOT } from "./source-files.ts";

const SETTINGS = [...readFileSync(join(ROOT, ".env.example"), "utf8").matchAll(/^# ([A-Z]\w+)=/gm)].map(
  ([, name = ""]) => name,
);
const SECRETS = {
  POSTGRES_PASSWORD: "any",
  WAYGATE_SECRET_KEY: "q83vEjRWeJq83vASNFZ4mg0Tg6XzLk7d",
  WAYGATE_CLUSTER_SECRET: "Zk4W0yq7UeT1nRb8sVhM3xGpD5aJf2Lc",
  WAYGATE_BACKUP_KEY: "H7mQx2ZrT9vKpY4wNc6sEd1uJg8bFa3L",
};

const toDotEnv = (variables: Record<string, string>) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join("");
/** Services that run the gateway. */
const gatewaysOf = ({ services }: ComposeFile) =>
  Object.keys(services).filter((name) => services[name].build);

/** Settings that the containers define themselves: listening address and data folders. */
const FIXED: Record<string, string[]> = {
  "docker-compose.yml": ["DATABASE_URL", "WAYGATE_DATA_DIR", "WAYGATE_HOST", "WAYGATE_PORT"],
  "docker-compose.nodes.yml": [
    "DATABASE_URL",
    "WAYGATE_BACKUP_DIR",
    "WAYGATE_DATA_DIR",
    "WAYGATE_HOST",
    "WAYGATE_MEDIA",
    "WAYGATE_NODE_URL",
    "WAYGATE_PORT",
  ],
};

describe.each(Object.entries(FIXED))("the environment that %s gives a gateway", (file, fixed) => {
  test("contains each setting of .env.example, except those that the file fixes", () => {
    expect(SETTINGS.length).toBeGreaterThan(40);
    const marked = Object.fromEntries(SETTINGS.map((name) => [name, `of ${name}`]));
    const compose = readCompose(file, toDotEnv({ ...SECRETS, ...marked }));
    for (const service of gatewaysOf(compose)) {
      const environment = compose.environmentOf(service);
      const lost = SETTINGS.filter((name) => environment[name] !== `of ${name}`);
      expect(lost.sort(), service).toEqual(fixed);
    }
  });

  test("is one with which the gateway starts, in production, when .env sets the secrets alone", () => {
    const compose = readCompose(file, toDotEnv(SECRETS));
    for (const service of gatewaysOf(compose)) {
      const { PGPASSWORD, ...environment } = compose.environmentOf(service);
      expect(PGPASSWORD).toBe(SECRETS.POSTGRES_PASSWORD);
      expect(readConfig(environment)).toMatchObject({ production: true, host: "0.0.0.0", port: 3000 });
    }
  });

  test("has a password with any character, since it is no part of a URL", () => {
    const password = 'a/b#c?d@e:f%41 g"h\\i$j';
    const compose = readCompose(file, toDotEnv({ ...SECRETS, POSTGRES_PASSWORD: password }));
    expect(compose.services.postgres.environment.POSTGRES_PASSWORD).toBe(password);
    for (const service of gatewaysOf(compose)) {
      const { PGPASSWORD, DATABASE_URL = "" } = compose.environmentOf(service);
      expect(PGPASSWORD).toBe(password);
      expect(new URL(DATABASE_URL)).toMatchObject({
        username: "waygate",
        password: "",
        hostname: "postgres",
      });
    }
  });

  test.each(["POSTGRES_PASSWORD", "WAYGATE_SECRET_KEY"])("is refused by compose without %s", (name) => {
    const { [name as keyof typeof SECRETS]: _, ...others } = SECRETS;
    expect(() => readCompose(file, toDotEnv(others))).toThrow(`required variable ${name} is missing`);
  });

  test("comes with limits of memory, processes and logs, and a health check of readiness", () => {
    const { services } = readCompose(file, toDotEnv({ ...SECRETS, GATEWAY_MEMORY: "3g" }));
    const own = Object.entries(services).filter(([name, { build }]) => build || name === "postgres");
    expect(own.length).toBeGreaterThan(1);
    for (const [name, service] of own) {
      expect(service, name).toMatchObject({
        mem_limit: service.build ? "3g" : "2g",
        pids_limit: expect.any(Number),
        logging: { options: { "max-size": "10m" } },
        healthcheck: { test: expect.any(Array) },
      });
      if (service.build) expect(service.healthcheck.test.join(" ")).toContain("127.0.0.1:3000/health/ready'");
    }
  });
});
