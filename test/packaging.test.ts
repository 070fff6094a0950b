import { existsSync, readFileSync } from "node:fs";
import { BlockList } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { listSettings, readConfig } from "../src/platform/config/config.ts";
import { findBroadEntries } from "../src/platform/outgoing/address-policy.ts";
import vitestConfig from "../vitest.config.ts";
import { listFiles, ROOT } from "./source-files.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const SETTINGS = new Set([...listSettings().map(({ env }) => env), "NODE_ENV"]);

/** Names that look like settings but are not. */
function unknownSettings(names: Iterable<string>): string[] {
  return [...names].filter((name) => /^(WAYGATE_|DATABASE_URL$)/.test(name) && !SETTINGS.has(name));
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

describe("the Dockerfile", () => {
  const lines = read("Dockerfile")
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length).trim());
  const lastStage = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));

  test("begins each stage with Debian slim and Node 24", () => {
    expect(
      of("FROM").every((image) => /^node:24\.\d+\.\d+-bookworm-slim@sha256:\w{64}( AS build)?$/.test(image)),
    ).toBe(true);
  });

  test("copies existing files, and no file that .dockerignore excludes", () => {
    const ignored = new Set(read(".dockerignore").split("\n"));
    const sources = of("COPY")
      .filter((line) => !line.startsWith("--from"))
      .flatMap((line) => line.split(/\s+/).slice(0, -1));
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((path) => !existsSync(join(ROOT, path)) || ignored.has(path))).toEqual([]);
  });

  test("creates an image with its own user and a health check, and without a compiler", () => {
    const text = lastStage.join("\n");
    expect(text).toMatch(/^USER node$/m);
    expect(text).toMatch(/^HEALTHCHECK .*\/health\/live/m);
    expect(text).not.toMatch(/npm (ci|install)|gcc|build-essential|python3|typescript/);
    expect(lines.findIndex((line) => line.includes("npm prune --omit=dev"))).toBeLessThan(
      lines.findLastIndex((line) => line.startsWith("FROM ")),
    );
    expect(text).toMatch(/^ENTRYPOINT \["node", "bin\/waygate\.mjs"\]$/m);
  });

  test("has every workspace of the lock file before it installs the dependencies", () => {
    const { workspaces } = JSON.parse(read("package.json")) as { workspaces: string[] };
    const before = lines.slice(
      0,
      lines.findIndex((line) => line.startsWith("RUN npm ci")),
    );
    const copied = before.flatMap((line) => line.split(/\s+/).slice(1, -1));
    const isCopied = (folder: string) =>
      [folder, `${folder}/package.json`, folder.split("/")[0]].some((path) => copied.includes(path ?? ""));
    expect(workspaces.filter((folder) => !isCopied(folder))).toEqual([]);
  });

  test("labels the image with its licence, and with the description of the package", () => {
    const { description, license } = JSON.parse(read("package.json"));
    expect(of("LABEL").join(" ")).toContain(`image.description="${description}"`);
    expect(of("LABEL").join(" ")).toContain(`image.licenses="${license}"`);
  });

  test("sets existing settings only", () => {
    const names = of("ENV").flatMap((line) => [...line.matchAll(/(\w+)=/g)].map(([, name = ""]) => name));
    expect(names).toContain("WAYGATE_HOST");
    expect(unknownSettings(names)).toEqual([]);
  });
});

describe.each(["docker-compose.yml", "docker-compose.nodes.yml"])("%s", (file) => {
  const compose: Json = parse(read(file), { merge: true });
  const services: [string, Json][] = Object.entries(compose.services);

  test("defines services that exist, each with an image", () => {
    for (const [name, { depends_on: needs = {}, image, build }] of services) {
      const names = Array.isArray(needs) ? needs : Object.keys(needs);
      expect(Object.keys(compose.services), name).toEqual(expect.arrayContaining(names));
      expect(image ?? build, name).toBeTruthy();
    }
  });

  test("mounts existing volumes and files", () => {
    const mounted: string[] = services.flatMap(([, { volumes = [] }]) => volumes);
    const sources = mounted.map((volume) => volume.split(":")[0] ?? "");
    const known = Object.keys(compose.volumes);
    const missing = sources.filter((from) => !known.includes(from) && !existsSync(join(ROOT, from)));
    expect(missing).toEqual([]);
    expect(known.filter((name) => !sources.includes(name))).toEqual([]);
  });

  test("lets the gateway stop gracefully, with existing settings and no secret of its own", () => {
    const ours = services.filter(([, { build }]) => build !== undefined);
    expect(ours.length).toBeGreaterThan(0);
    for (const [, service] of ours) {
      expect(service.stop_grace_period).toBe("40s");
      expect(unknownSettings(Object.keys(service.environment))).toEqual([]);
      for (const name of ["PGPASSWORD", "WAYGATE_SECRET_KEY"]) {
        expect(service.environment[name]).toMatch(/\$\{\w+:\?/);
      }
    }
    expect(read(file)).not.toMatch(/(PASSWORD|SECRET\w*|TOKEN|KEY): [^$\s]/);
  });

  test("lets no service gain rights, and runs the gateway and the databases with minimal rights", () => {
    for (const [name, service] of services) {
      expect(service.security_opt, name).toEqual(["no-new-privileges:true"]);
      const { image = "", build } = service;
      if (!build && !/^(postgres|pgvector\/pgvector|redis|nginx):/.test(image)) continue;
      expect(service, name).toMatchObject({ cap_drop: ["ALL"], read_only: true });
      const places = [
        ...(service.tmpfs ?? []),
        ...service.volumes.map((volume: string) => volume.split(":")[1]),
      ];
      expect(places, name).toContain("/tmp");
      if (build) expect(service.cap_add, name).toBeUndefined();
    }
  });

  test("trusts the network's gateway and the proxy to name the client, and no other container", () => {
    const [{ subnet, gateway, ip_range: range = subnet }] = compose.networks.default.ipam.config;
    const input = new BlockList();
    input.addSubnet(range.split("/")[0], Number(range.split("/")[1]));
    const fixed: string[] = services
      .map(([, { networks }]) => networks?.default.ipv4_address)
      .filter(Boolean);
    // An address that the engine assigns could belong to another container.
    expect(fixed.filter((address) => input.check(address))).toEqual([]);
    for (const [, { environment }] of services.filter(([, { build }]) => build)) {
      const trusted = /^\$\{WAYGATE_TRUSTED_PROXIES:-(.*)\}$/.exec(environment.WAYGATE_TRUSTED_PROXIES)?.[1];
      expect(trusted?.split(",")).toEqual([gateway, ...fixed]);
    }
    expect(fixed).toHaveLength(services.some(([name]) => name === "proxy") ? 1 : 0);
  });

  test("passes every variable of .env to the gateway", () => {
    const gateways = services.filter(([, { build }]) => build);
    expect(gateways.length).toBeGreaterThan(0);
    for (const [name, { env_file }] of gateways) {
      expect(env_file, name).toEqual([{ path: ".env", required: false }]);
    }
  });

  test("names every image of others by its exact version", () => {
    const images = services.flatMap(([, { image, build }]) => (build ? [] : [image]));
    expect(images.length).toBeGreaterThan(0);
    expect(images.filter((image) => !/:v?\d+\.\d+(\.\d+|-bookworm@sha256:\w{64}$)/.test(image))).toEqual([]);
  });

  test("gives the gateway a role of PostgreSQL that its image does not make a superuser", () => {
    const gateways = services.filter(([, { build }]) => build);
    const { environment, volumes } = Object.fromEntries(services).postgres;
    for (const [, gateway] of gateways) {
      const { username, pathname } = new URL(gateway.environment.DATABASE_URL);
      expect(username).not.toBe(environment.POSTGRES_USER ?? "postgres");
      const made = read("deploy/postgres/make-role.sh");
      expect(made).toContain(`create role ${username} login createdb password :'password';`);
      expect(made).toContain(`create database ${pathname.slice(1)} owner ${username};`);
    }
    expect(volumes).toContain("./deploy/postgres/make-role.sh:/docker-entrypoint-initdb.d/make-role.sh:ro");
  });

  test("publishes ports to this machine only", () => {
    const ports = services.flatMap(([, service]) => service.ports ?? []);
    expect(ports.every((port) => port.startsWith("127.0.0.1:"))).toBe(true);
  });
});

test("the gateway of docker-compose.yml reaches no neighbour until .env names it, as the guide does with its one port", () => {
  const { services }: Json = parse(read("docker-compose.yml"), { merge: true });
  expect(services.waygate.environment.WAYGATE_ALLOWED_HOSTS).toMatch(/^\$\{\w+:-external\}$/);
  const named = read("docs/start/install.md").matchAll(
    /^\| (\w+) \| `WAYGATE_ALLOWED_HOSTS=external,(\w+):(\d+)`/gm,
  );
  const hosts = [...named].map(([, profile = "", name = "", port]) => {
    expect(services[name].profiles).toEqual([profile]);
    expect(services[name].ports[0]).toMatch(new RegExp(`:${port}$`));
    return `${name}:${port}`;
  });
  expect(hosts).toEqual(["n8n:5678", "typebot:3000", "chatwoot:3000"]);
  expect(findBroadEntries(hosts)).toEqual([]);
});

test("three nodes have their own addresses, and the proxy lists all of them", () => {
  const { services }: Json = parse(read("docker-compose.nodes.yml"), { merge: true });
  const nodes = Object.keys(services).filter((name) => name.startsWith("node-"));
  expect(nodes).toHaveLength(3);
  const proxy = read("deploy/nodes/nginx.conf");
  for (const name of nodes) {
    expect(services[name].environment.WAYGATE_NODE_URL).toBe(`http://${name}:3000`);
    expect(services[name].environment.WAYGATE_CLUSTER_SECRET).toBeTruthy();
    // Otherwise the proxy exits at its start while that node is unreachable.
    expect(proxy).toContain(`server ${name}:3000 resolve `);
  }
  expect(proxy).toContain("proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;");
  expect(proxy).toMatch(/^resolver /m);
  expect(proxy).toMatch(/^ {2}zone /m);
  expect(proxy).toMatch(/location \/internal\/ \{\s+return 404;/);
});

test("the systemd unit has valid sections and directives, and an existing program", () => {
  const text = read("deploy/systemd/waygate.service");
  const directives = text.split("\n").filter((line) => line !== "" && !/^[#[]/.test(line));
  expect(text.match(/^\[.*\]$/gm)).toEqual(["[Unit]", "[Service]", "[Install]"]);
  expect(directives.filter((line) => !SYSTEMD.test(line))).toEqual([]);
  const environment = [...text.matchAll(/^Environment=(\w+)=/gm)].map(([, name = ""]) => name);
  expect(unknownSettings(environment)).toEqual([]);
  const program = /^ExecStart=\/usr\/bin\/node \/opt\/waygate\/(\S+) serve$/m.exec(text)?.[1] ?? "";
  expect(existsSync(join(ROOT, program))).toBe(true);
  expect(text).toContain("TimeoutStopSec=40s");
  for (const name of ["ProtectKernelLogs", "ProtectClock", "ProtectHostname", "RestrictSUIDSGID"]) {
    expect(text).toMatch(new RegExp(`^${name}=yes$`, "m"));
  }
  expect(text).toMatch(/^SystemCallFilter=@system-service$/m);
});

const SYSTEMD =
  /^(Description|After|Wants|Type|User|Group|WorkingDirectory|EnvironmentFile|Environment|StateDirectory|StateDirectoryMode|ExecStart|Restart|RestartSec|KillSignal|KillMode|TimeoutStopSec|LimitNOFILE|UMask|NoNewPrivileges|ProtectSystem|ProtectHome|PrivateTmp|PrivateDevices|ProtectKernelTunables|ProtectKernelModules|ProtectKernelLogs|ProtectControlGroups|ProtectClock|ProtectHostname|RestrictAddressFamilies|RestrictNamespaces|RestrictRealtime|RestrictSUIDSGID|SystemCallArchitectures|SystemCallFilter|SystemCallErrorNumber|LockPersonality|CapabilityBoundingSet|WantedBy)=/;

describe("the Helm chart", () => {
  const values: Json = parse(read("deploy/helm/values.yaml"));
  const templates = listFiles("deploy/helm/templates");

  test("is version 2, and its application has the version of the package", () => {
    const chart: Json = parse(read("deploy/helm/Chart.yaml"));
    expect(chart.apiVersion).toBe("v2");
    expect(chart.appVersion).toBe(JSON.parse(read("package.json")).version);
  });

  test("uses existing settings only", () => {
    const inTemplates = templates.flatMap((path) =>
      [...read(path).matchAll(/\b(WAYGATE_\w+|DATABASE_URL)\b/g)].map(([name]) => name),
    );
    const input = [...Object.keys(values.secrets), ...Object.keys(values.settings), ...inTemplates];
    expect(input).toContain("WAYGATE_NODE_URL");
    expect(unknownSettings(input)).toEqual([]);
    expect(Object.values(values.secrets).filter((value) => value !== "")).toEqual([]);
  });

  test("trusts the proxies of an ingress to name the client, with addresses that the gateway accepts", () => {
    const text = read("deploy/helm/templates/statefulset.yaml");
    expect(text).toMatch(
      /if and \.Values\.ingress\.enabled .*\}\}\n\s+- name: WAYGATE_TRUSTED_PROXIES\n\s+value: .*\.Values\.trustedProxies /,
    );
    const cidrs: string[] = values.trustedProxies;
    expect(readConfig({ WAYGATE_TRUSTED_PROXIES: cidrs.join(",") }).trustedProxies).toEqual(cidrs);
  });

  test("routes /internal of its ingress to a service without pods", () => {
    const text = read("deploy/helm/templates/ingress.yaml");
    const [first = ""] = text.match(/- path: \/internal\n[\s\S]*?(?=- path: \/\n)/) ?? [];
    expect(first).toMatch(/pathType: Prefix\n[\s\S]*name: .*-closed\n/);
    const service = text.slice(text.indexOf("kind: Service"));
    expect(service).toMatch(/name: .*-closed\n/);
    expect(service).not.toContain("selector:");
  });

  test("opens the nodes to each other and to named peers only, and blocks the cloud's metadata", () => {
    const text = read("deploy/helm/templates/network-policy.yaml");
    expect(values.networkPolicy.enabled).toBe(true);
    expect(values.networkPolicy.from).toEqual([
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress-nginx" } } },
    ]);
    expect(text).toMatch(/policyTypes: \[Ingress, Egress\]/);
    expect(text).toMatch(/except: \[169\.254\.0\.0\/16\]/);
  });
});

test("the workflow runs .ci/run", () => {
  const { jobs }: Json = parse(read(".github/workflows/ci.yml"));
  expect(jobs.test.steps.map(({ run }: Json) => run)).toContain(".ci/run");
  expect(existsSync(join(ROOT, ".ci/run"))).toBe(true);
});

test("each project of tests has a step, and no test is tried again", () => {
  const { projects }: Json = vitestConfig.test;
  const stepped = [...read("scripts/run-steps.mjs").matchAll(/--project=(\w+)/g)].map(([, name]) => name);
  expect(stepped.toSorted()).toEqual(projects.map(({ test: { name } }: Json) => name).toSorted());
  expect(read("vitest.config.ts")).not.toMatch(/\bretry\b/);
});

// The image workflow runs no command of this repository.
const WITH_COMMANDS = listFiles(".github/workflows").filter((path) => !path.endsWith("/image.yml"));

test.each(WITH_COMMANDS)("%s runs existing commands on existing files", (path) => {
  const { jobs }: Json = parse(read(path));
  const { scripts } = JSON.parse(read("package.json"));
  const commands: string[] = Object.values<Json>(jobs).flatMap(({ steps = [] }) =>
    steps.flatMap(({ run = [] }: Json) => run),
  );
  const names = commands.flatMap((line) => /\bnpm run (?:--silent )?([\w:]+)/.exec(line)?.[1] ?? []);
  expect(names.filter((name) => scripts[name] === undefined)).toEqual([]);
  const paths = commands.flatMap((line) =>
    line.split(/\s+/).filter((word) => /^(\.ci|src|test|scripts|packages)\//.test(word)),
  );
  expect(paths.filter((file) => !file.startsWith("test-artifacts") && !existsSync(join(ROOT, file)))).toEqual(
    [],
  );
  expect(names.length + paths.length).toBeGreaterThan(0);
});

test("npm run test:nodes runs test files that exist on an exact release of each supported line of Node", () => {
  const script = read("scripts/test-on-node.sh");
  const versions = script.match(/versions=\((\d.*)\)$/m)?.[1]?.split(" ") ?? [];
  expect(versions.map((version) => version.replace(/^(\d+)\.\d+\.\d+$/, "$1"))).toEqual(["20", "22", "24"]);
  const { engines } = JSON.parse(read("package.json"));
  expect(`${versions[0]}`).toBe(`${engines.node.replace(">=", "")}.0`);
  const files = script.match(/^ {2}\S+\.test\.ts$/gm) ?? [];
  expect(files.filter((file) => !existsSync(join(ROOT, file.trim())))).toEqual([]);
  expect(files.length).toBeGreaterThan(10);
});

describe("the npm package", () => {
  const { files, scripts, bin, exports: doors } = JSON.parse(read("package.json"));

  test("has a program and exports whose sources exist, and not all that is built", () => {
    expect(files).not.toContain("dist");
    // The bundle contains the program, so the package has only the modules of its exports besides it.
    expect(files).not.toContain("dist/src");
    expect(existsSync(join(ROOT, bin.waygate))).toBe(true);
    for (const { types, default: code } of Object.values<Json>(doors)) {
      expect(code).toMatch(/^\.\/dist\/src\/[\w/]+\.js$/);
      expect(types).toBe(code.replace(/\.js$/, ".d.ts"));
      expect(existsSync(join(ROOT, code.replace("/dist/", "/").replace(/\.js$/, ".ts")))).toBe(true);
    }
  });

  test("is compiled before it is packed", () => {
    expect(scripts.prepack).toContain("npm run --silent build");
  });
});

describe("every package of the repository", () => {
  const root = JSON.parse(read("package.json"));
  const folders: string[] = root.workspaces;

  test.each(folders)("has the version, the licence and the Node of the gateway: %s", (folder) => {
    const { version, license, engines } = JSON.parse(read(`${folder}/package.json`));
    expect({ version, license, engines }).toEqual({
      version: root.version,
      license: root.license,
      engines: root.engines,
    });
  });

  test("is guarded against a publication by mistake, and is published by the script of the release alone", () => {
    const all = [".", ...folders];
    const manifests = all.map((folder) => JSON.parse(read(join(folder, "package.json"))));
    expect(manifests.map((manifest) => manifest.private)).toEqual(all.map(() => true));
    const packages = folders.filter((folder) => folder.startsWith("packages/"));
    const own = [".", "packages/n8n-nodes-waygate", ...packages];
    const published = /^for folder in (.*); do$/m.exec(read("scripts/publish.sh"))?.[1]?.split(" ") ?? [];
    expect(published.sort()).toEqual(own.sort());
    const callers = listFiles(".github/workflows").filter((path) => read(path).includes("publish.sh"));
    expect(callers).toEqual([".github/workflows/release.yml"]);
  });
});

test("the package has each module that its contract imports", () => {
  const { files } = JSON.parse(read("package.json")) as { files: string[] };
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    for (const [, target = ""] of read(path).matchAll(/^(?:import|export) (?!type)[^"]*"(\.[^"]+)"/gm))
      visit(join(path, "..", target));
  };
  visit("src/contract.ts");
  expect(found.size).toBeGreaterThan(20);
  const patterns = files.map(
    (file) => new RegExp(`^${file.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}(/|$)`),
  );
  const missing = [...found].filter(
    (path) => !patterns.some((pattern) => pattern.test(`dist/${path.replace(/ts$/, "js")}`)),
  );
  expect(missing).toEqual([]);
});
