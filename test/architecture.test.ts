import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BaileysEventMap } from "baileys";
import { describe, expect, test } from "vitest";
import { EXTENSIONS } from "../src/processes/extensions.ts";
import { listFiles, listOwnFiles, ROOT, readImports, readSources, type SourceFile } from "./source-files.ts";

type Area =
  | "main"
  | "cli"
  | "processes"
  | "mcp"
  | "client"
  | "packages"
  | "contract"
  | "core"
  | "extensions"
  | "engine"
  | "network"
  | "platform"
  | "tables"
  | "migrations";

/** The areas that each area may import besides itself. */
const MAY_IMPORT: Record<Area, readonly Area[]> = {
  main: ["cli", "platform"],
  cli: ["processes", "mcp", "client", "contract", "core", "extensions", "network", "platform"],
  processes: ["mcp", "contract", "core", "extensions", "engine", "network", "platform", "tables"],
  mcp: ["client", "contract", "platform"],
  client: ["contract", "platform", "packages"],
  // Published separately; see "of a published package" below.
  packages: [],
  contract: ["core", "extensions"],
  core: ["engine", "network", "platform", "tables"],
  extensions: ["core", "engine", "network", "platform", "tables"],
  engine: ["platform", "tables"],
  network: ["platform"],
  platform: ["tables", "migrations"],
  tables: [],
  migrations: [],
};

/**
 * Slow or large parts that an idle gateway does not need, so they load at first use. `unless`: the file that imports
 * the part statically and is itself loaded at first use.
 */
const LOADED_AT_FIRST_USE: readonly { part: RegExp; unless?: RegExp }[] = [
  { part: /^(sharp|file-type|qrcode|@node-rs\/argon2|@aws-sdk\/.*|@zxcvbn-ts\/.*)$/ },
  { part: /^(@nats-io\/.*|amqplib)$/, unless: /\/open-(nats|amqp)-connection\.ts$/ },
  { part: /\/open-(nats|amqp)-connection\.ts$/ },
  { part: /^htmlparser2$/, unless: /\/read-page-summary\.ts$/ },
  { part: /\/read-page-summary\.ts$/ },
  { part: /\/start-serving\.ts$/ },
  { part: /^@modelcontextprotocol\//, unless: /^src\/(mcp\/|cli\/serve-mcp\.ts$)/ },
  { part: /\/serve-mcp(-request)?\.ts$/ },
  { part: /^light-my-request$/ },
];
const STATIC_IMPORT = /^(?:import|export) (?!type )(?:[^;"]*? from )?"([^"]+)"/gm;

/** Limits of platform/limits without dependencies on other state. */
const PURE_LIMITS = "limits/(semaphore|token-bucket|fixed-window|with-timeout|max-entries)";

/** More specific rules: from a file, to a file. */
const ONLY: readonly { from: RegExp; to: RegExp; unless: RegExp; why: string }[] = [
  {
    from: /^src\/client\/client\.ts$/,
    to: /^src\/platform\//,
    unless: /^src\/platform\/http\/route\.ts$/,
    why: "the client knows the contract and nothing of the server",
  },
  {
    from: /^src\/contract\.ts$/,
    to: /^src\/(core|extensions)\//,
    unless: /\/contract\.ts$/,
    why: "the contract is made of contracts",
  },
  {
    from: /^src\/(core|extensions)\/(?!sandbox\/extension\.ts$)/,
    to: /^src\/network\//,
    unless: /^src\/network\/(?:content\/)?[^/]+\.ts$/,
    why: "only processes and the extension of a network know its driver",
  },
  {
    from: /^src\/network\//,
    to: /^src\/platform\//,
    unless: new RegExp(`^src/platform/(?:${PURE_LIMITS}|text/read-vcard)\\.ts$`),
    why: "a driver knows the network and nothing of the gateway",
  },
  {
    from: new RegExp(`^src/platform/${PURE_LIMITS}\\.ts$`),
    to: /^src\//,
    unless: new RegExp(`^src/platform/(${PURE_LIMITS}|clock)\\.ts$`),
    why: "a driver may use these limits",
  },
  {
    from: /^src\/platform\/findings\.ts$/,
    to: /./,
    unless: /^$/,
    why: "a browser must be able to load the findings",
  },
  {
    from: /^src\/(?:core|extensions)\/[^/]+\/(contract|refused-fields)\.ts$/,
    to: /./,
    unless:
      /^zod$|^src\/platform\/(http\/(route|schema-name|reason-schemas)|issue-codes|text\/bounded-text|phone\/fold-phone-text|point-in-time)\.ts$|^src\/(?:core|extensions)\/[^/]+\/(contract|refused-fields)\.ts$/,
    why: "a browser must be able to load a contract",
  },
];

/** A script for browsers. */
const IN_THE_BROWSER = "src/extensions/public-pages/link-script.ts";
const HTTP_CLIENTS = /^(undici|axios|got|ky|node-fetch|superagent|(node:)?https?|(node:)?http2)$/;
const NO_CLIENT = new Set(["STATUS_CODES", "createServer"]);
const MAY_CALL_OUT = [
  "src/platform/outgoing/safe-fetch.ts",
  "packages/client/src/create-methods.ts",
  "src/platform/nodes/node-rpc-client.ts",
  "src/network/whatsapp/session-transport.ts",
];

/** Files that open sockets: database, object storage, session proxies, and brokers of webhooks. */
const SOCKET_MAKERS =
  /^((node:)?(net|tls|dgram)|pg|ws|fetch-socks|(socks|https|http)-proxy-agent|@aws-sdk\/.*|@nats-io\/.*|amqplib)$/;
const NO_SOCKET = new Set(["isIP", "createServer", "Query"]);
const MAY_OPEN_SOCKETS = [
  "src/engine/cluster/heartbeat-connection.ts",
  "src/extensions/backups/file/write-backup.ts",
  "src/core/health/doctor-checks.ts",
  // Their clients dial only the addresses that SafeFetch has checked.
  "src/extensions/nats/open-nats-connection.ts",
  "src/extensions/rabbitmq/open-amqp-connection.ts",
  "src/network/whatsapp/session-transport.ts",
  "src/platform/db/database.ts",
  "src/platform/embedded-postgres/embedded-postgres.ts",
  "src/platform/media/s3-media-store.ts",
];

/** Files with several equal exports are named for their subject. */
const NAMED_FOR_A_SUBJECT = [
  // What a route accepts.
  "src/core/accounts/access/route-credentials.ts",
  // The statements of one or several tables.
  "src/engine/job-store.ts",
  "src/engine/lane-store.ts",
  "src/core/accounts/account-row.ts",
  "src/core/webhooks/save-webhook.ts",
  "src/network/sandbox/inbox/device-inbox.ts",
  "src/network/sandbox/world/group-store.ts",
  "src/network/sandbox/world/person-store.ts",
  "src/network/sandbox/world/picture-store.ts",
  "src/platform/db/database-counter.ts",
  // The schemas of codes and their params.
  "src/platform/http/reason-schemas.ts",
  // Both directions of a format.
  "src/extensions/backups/file/encrypted-stream.ts",
  "src/core/sessions/connection/qr-code-image.ts",
  "src/core/webhooks/delivery/webhook-signature.ts",
  "src/network/whatsapp/outbound/send-refusals.ts",
  "src/network/whatsapp/pairing/pairing-code-crypto.ts",
  "src/network/whatsapp/pairing/passkey-crypto.ts",
  "src/platform/db/pg-copy.ts",
  "src/platform/http/input/pagination.ts",
  "src/platform/nodes/node-rpc-message.ts",
  "src/platform/outgoing/ip-address.ts",
  // Variants of one thing.
  "src/core/health/doctor-checks.ts",
  "src/extensions/integrations/chatwoot/post-message-change.ts",
  "src/extensions/integrations/typebot/typebot-api.ts",
  "src/core/messages/send/run/send-retries.ts",
  "src/extensions/privacy/anonymise-table-steps.ts",
  "src/extensions/public-pages/guide-search.ts",
  "src/core/webhooks/delivery/webhook-report-events.ts",
  "src/network/sandbox/requests/send-results.ts",
  "src/network/sandbox/sandbox-numbers.ts",
  "src/platform/config/setting-types.ts",
  // The program itself exports nothing.
  "src/main.ts",
];

/** Functions of Baileys that fetch an address from an argument or a message. */
const FETCHING_EXPORTS =
  /^(\*|getHttpStream|getStream|toBuffer|download\w+|extractSyncdPatches|decodePatches|getUrlInfo|fetchLatest\w+|generateWAMessage\w*|generateProfilePicture|generateThumbnail|encryptedStream|getRawMediaUploadData|getWAUploadToServer|uploadWithNodeHttp|updateMessageWithNewMedia)$/;
const FETCHING_METHODS =
  /\bsock\.(sendMessage|updateProfilePicture|updateMediaMessage|updateCoverPhoto|product(Create|Update)|newsletter\w+)\b/;
/** Places in Baileys that open a connection. Each gets a transport of `session-transport.ts`, or is never called. */
const OPENED_BY_BAILEYS = {
  "Socket/Client/websocket.js": ["from 'ws'", "new WebSocket("],
  // The latest versions, which no migration replaces.
  "Utils/generics.js": ["fetch(", "fetch("],
  // The picture of a group invitation, which only Baileys' own message generator fetches.
  "Utils/messages.js": ["fetch("],
  // Downloads use `options.dispatcher`, uploads `fetchAgent`; other runtimes than Node are not used.
  "Utils/messages-media.js": ["fetch(", "import('https')", "import('http')", ".request({", "fetch("],
};

const EXPORTED_TYPE = /^export (?:declare )?(?:interface|type|(?:abstract )?class|enum) (\w+)/gm;
const EXPORTED =
  /^export (?:declare )?(?:async )?(?:interface|type|(?:abstract )?class|enum|function\*?|const|let) (\w+)/gm;

const COMMENT = /\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm;
/** Functions of other programs that comments name as a source. */
const NAMES_OF_OTHERS = new Set(["computeTypingDuration"]);

const { workspaces }: { workspaces: string[] } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const PACKAGES = workspaces.filter((folder) => folder.startsWith("packages/"));
/** Folders of program, tests and documents. */
const TREES = ["src", "panel", "scripts", "packages", "test", "migrations", "docs", "examples", "deploy"];
const MOST_FILES = 20;
/** Remaining cycles of folders. Never add one. */
const FOLDER_CYCLES = [
  // A new instance can include its first webhook, so one contract contains the other.
  "src/core: instances webhooks",
];
const folders = ["src", "migrations", "scripts", "test", ...PACKAGES.map((one) => `${one}/src`)];
const everything = folders.flatMap((folder) => readSources(folder));
const sources = everything.filter(({ path }) => /^(src|packages)\//.test(path) && !path.endsWith(".test.ts"));

function areaOf(path: string): Area | undefined {
  const [folder] = path.split("/");
  if (folder === "migrations" || folder === "packages") return folder;
  const name = path.match(/^src\/([^/]+?)(\.ts|\/)/)?.[1] ?? "";
  return Object.hasOwn(MAY_IMPORT, name) ? (name as Area) : undefined;
}

function featureOf(path: string): string | undefined {
  return path.match(/^src\/(?:core|extensions)\/([^/]+)\//)?.[1];
}

function extensionOf(path: string): string | undefined {
  return path.match(/^src\/extensions\/([^/]+)\//)?.[1];
}

function isOurs(target: string): boolean {
  return areaOf(target) !== undefined;
}

/** One line for each import that breaks a rule. */
function breaches(rule: (file: SourceFile, target: string, values: readonly string[]) => boolean): string[] {
  return sources.flatMap((file) =>
    file.imports
      .filter(({ target, values }) => rule(file, target, values))
      .map(({ target }) => `${file.path} imports ${target}`),
  );
}

/** Libraries in the program's bundle, installed for development only. */
const BUNDLED = new Set([
  "@fastify/busboy",
  "@modelcontextprotocol/server",
  "@nats-io/jetstream",
  "@nats-io/nats-core",
  "@nats-io/transport-node",
  "@zxcvbn-ts/core",
  "@zxcvbn-ts/language-common",
  "amqplib",
  "baileys",
  "commander",
  "content-disposition",
  "fastify",
  "fetch-socks",
  "file-type",
  "htmlparser2",
  "https-proxy-agent",
  "ipaddr.js",
  "jose",
  "kysely",
  "libphonenumber-js",
  "light-my-request",
  "lru-cache",
  "marked",
  "mime",
  "pg",
  "pg-copy-streams",
  "prom-client",
  "qrcode",
  "re2js",
  "socks-proxy-agent",
  "undici",
]);

describe("imports", () => {
  test("are checked in every file: each one belongs to an area of the table", () => {
    expect(sources.filter(({ path }) => areaOf(path) === undefined).map(({ path }) => path)).toEqual([]);
  });

  test("point from upper to lower areas only", () => {
    const up = breaches(({ path }, target) => {
      const [from, to] = [areaOf(path), areaOf(target)];
      return from !== undefined && to !== undefined && from !== to && !MAY_IMPORT[from].includes(to);
    });
    expect(up).toEqual([]);
  });

  test("of the program are its own files, installed and bundled packages, never those of the tests", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const names = Object.keys(devDependencies).filter((name) => !BUNDLED.has(name));
    const forTests = breaches(
      (_, target) =>
        target.startsWith("test/") || names.some((name) => target === name || target.startsWith(`${name}/`)),
    );
    expect(forTests).toEqual([]);
  });

  test.each(PACKAGES)(
    "of a published package are its own files, without a dependency or Node: %s",
    (folder) => {
      const foreign = breaches(
        ({ path }, target) => path.startsWith(`${folder}/`) && !target.startsWith(`${folder}/src/`),
      );
      expect(foreign).toEqual([]);
      const { dependencies, peerDependencies } = JSON.parse(
        readFileSync(join(ROOT, folder, "package.json"), "utf8"),
      );
      expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
      expect(sources.filter(({ path }) => path.startsWith(`${folder}/`)).length).toBeGreaterThan(0);
    },
  );

  test.each(ONLY)("stay narrow: $why", ({ from, to, unless }) => {
    const wide = breaches(({ path }, target) => from.test(path) && to.test(target) && !unless.test(target));
    expect(wide).toEqual([]);
  });

  test("of an extension are core and the extensions that its manifest needs", () => {
    const needs = new Map(EXTENSIONS.map((extension) => [extension.name, extension.needs ?? []]));
    const strange = breaches(({ path }, target) => {
      const [from, to] = [extensionOf(path), extensionOf(target)];
      if (from === undefined || to === undefined || from === to) return false;
      return !needs.get(from)?.includes(to);
    });
    expect(strange).toEqual([]);
    const folders = new Set(sources.flatMap(({ path }) => extensionOf(path) ?? []));
    expect([...folders].toSorted()).toEqual([...needs.keys()].toSorted());
  });

  test("of extensions in the lines of processes, contract and the command line only", () => {
    const knowing = breaches(
      ({ path }, target) =>
        extensionOf(path) === undefined &&
        extensionOf(target) !== undefined &&
        path !== "src/processes/extensions.ts" &&
        path !== "src/contract.ts" &&
        !path.startsWith("src/cli/"),
    );
    expect(knowing).toEqual([]);
  });

  test("of the network from features are types only, with a short list of exceptions", () => {
    const values = breaches(
      ({ path }, target, names) =>
        featureOf(path) !== undefined &&
        path !== "src/extensions/sandbox/extension.ts" &&
        areaOf(target) === "network" &&
        !/\/(jid|identity|network-message|poll|quote-content|truncate-text|credential-store|write-vcard)\.ts$/.test(
          target,
        ) &&
        names.length > 0,
    );
    expect(values).toEqual([]);
  });

  test("of parts that an idle gateway does not need are dynamic", () => {
    const found = sources.flatMap(({ path, text }) =>
      [...text.matchAll(STATIC_IMPORT)].flatMap(([, target = ""]) =>
        LOADED_AT_FIRST_USE.some(({ part, unless }) => part.test(target) && !unless?.test(path))
          ? [`${path} -> ${target}`]
          : [],
      ),
    );
    expect(found).toEqual([]);
  });

  test("of another feature use its main file or its contract", () => {
    const sideways = breaches(({ path }, target) => {
      const [from, to] = [featureOf(path), featureOf(target)];
      if (from === undefined || to === undefined || from === to) return false;
      return !new RegExp(`^src/(core|extensions)/${to}/(${to}|contract)\\.ts$`).test(target);
    });
    expect(sideways).toEqual([]);
  });

  test("between features never form a cycle", () => {
    const graph = new Map<string, Set<string>>();
    for (const { path, imports } of sources) {
      const from = nodeOf(path);
      if (from === undefined) continue;
      for (const { target } of imports) {
        const to = nodeOf(target);
        if (to !== undefined && to !== from) graph.set(from, (graph.get(from) ?? new Set()).add(to));
      }
    }
    expect(findCircle(graph)).toBeUndefined();
  });

  test("never form a cycle of files, types included", () => {
    const graph = new Map(
      sources.map(({ path, imports }) => [path, new Set(imports.map(({ target }) => target))]),
    );
    expect(findCircle(graph)).toBeUndefined();
  });

  test("of folders have an order in src, panel, scripts, packages and test, types included", () => {
    const modules = TREES.flatMap((tree) => readSources(tree, /\.(tsx?|mjs)$/)).filter(isUnit);
    expect(modules.some(({ path }) => path.startsWith("panel/src/pages/"))).toBe(true);
    expect(findFolderCycles(modules)).toEqual(FOLDER_CYCLES);
  });

  test("of everything that a browser loads with the client are zod and the project's own plain files", () => {
    const loaded = reachedFrom("src/client/client.ts");
    const foreign = [...loaded].filter((target) => !isOurs(target) && target !== "zod");
    expect(foreign).toEqual([]);
    const ofNode = sources.filter(
      ({ path, text }) => loaded.has(path) && /\b(Buffer|process)\.\w/.test(text),
    );
    expect(ofNode.map(({ path }) => path)).toEqual([]);
  });
});

const OF_CONTRACT = /\/(contract|refused-fields)\.ts$/;

/** Contracts are separate graph nodes: they may import each other while the features import the other way. */
function nodeOf(path: string): string | undefined {
  const feature = featureOf(path);
  return feature === undefined ? undefined : OF_CONTRACT.test(path) ? `${feature}/contract` : feature;
}

function findCircle(graph: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  const done = new Set<string>();
  function walk(node: string, visited: readonly string[]): string | undefined {
    if (visited.includes(node)) return [...visited.slice(visited.indexOf(node)), node].join(" -> ");
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = walk(next, [...visited, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  }
  return [...graph.keys()].map((node) => walk(node, [])).find((cycle) => cycle !== undefined);
}

function isUnit({ path }: Pick<SourceFile, "path">): boolean {
  return !/\.test\.tsx?$/.test(path);
}

/** Cycles between entries of a folder: `parent: folder folder file.ts`. */
function findFolderCycles(files: readonly Pick<SourceFile, "path" | "imports">[]): string[] {
  return [...readLevels(files)].flatMap(([parent, graph]) => {
    const reached = new Map([...graph.keys()].map((name) => [name, reachableFrom(name, graph)]));
    const cycles = [...graph.keys()].map((name) =>
      [...(reached.get(name) ?? [])].filter((other) => reached.get(other)?.has(name)).toSorted(),
    );
    const ofFolders = cycles.filter((names) => names.some((name) => !name.includes(".")));
    return [...new Set(ofFolders.map((names) => `${parent}: ${names.join(" ")}`))];
  });
}

/** Imports between the entries of each folder. */
function readLevels(files: readonly Pick<SourceFile, "path" | "imports">[]) {
  const known = new Set(files.map(({ path }) => path));
  const levels = new Map<string, Map<string, Set<string>>>();
  for (const { path, imports } of files) {
    for (const { target } of imports.filter((one) => known.has(one.target) && one.target !== path)) {
      const [from, to] = [path.split("/"), target.split("/")];
      const depth = from.findIndex((part, at) => part !== to[at]);
      const [name = "", other = ""] = [from[depth], to[depth]];
      const parent = from.slice(0, depth).join("/");
      const graph = levels.get(parent) ?? new Map<string, Set<string>>();
      levels.set(parent, graph.set(name, (graph.get(name) ?? new Set()).add(other)));
    }
  }
  return levels;
}

function reachableFrom(name: string, graph: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set(graph.get(name));
  for (const one of reached) for (const next of graph.get(one) ?? []) reached.add(next);
  return reached;
}

/** Modules that a file loads at run time, without type-only imports. */
function reachedFrom(start: string): Set<string> {
  const reached = new Set([start]);
  for (const path of reached) {
    const file = sources.find((source) => source.path === path);
    for (const { target, values } of file?.imports ?? []) if (values.length > 0) reached.add(target);
  }
  return reached;
}

describe("access to the outside world", () => {
  test("has its deadlines from abortAfter, since Node 20 loses a timeout inside AbortSignal.any", () => {
    const found = sources.filter(({ text }) => /AbortSignal\.any\([^;]*AbortSignal\.timeout/.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test("by HTTP is in the allowed files only, or in parts that only those load", () => {
    const parts = partsOf(MAY_CALL_OUT);
    const callers = sources
      .filter(({ path, text, imports }) => {
        if (parts.has(path) || path === IN_THE_BROWSER) return false;
        const has = imports.some(
          ({ target, values }) => HTTP_CLIENTS.test(target) && values.some((name) => !NO_CLIENT.has(name)),
        );
        return has || /(?<![\w.$#])fetch\(|\bglobalThis\.fetch\b|\bnew (WebSocket|EventSource)\(/.test(text);
      })
      .map(({ path }) => path);
    expect(callers).toEqual([]);
  });

  test("by sockets is in the allowed files only", () => {
    const openers = sources.filter(
      ({ path, imports }) =>
        !MAY_OPEN_SOCKETS.includes(path) &&
        imports.some(
          ({ target, values }) => SOCKET_MAKERS.test(target) && values.some((name) => !NO_SOCKET.has(name)),
        ),
    );
    expect(openers.map(({ path }) => path)).toEqual([]);
  });

  test("does not happen through a fetch of Baileys itself", () => {
    const callers = sources.filter(
      ({ text, imports }) =>
        FETCHING_METHODS.test(text) ||
        imports.some(
          ({ target, values }) => target === "baileys" && values.some((name) => FETCHING_EXPORTS.test(name)),
        ),
    );
    expect(callers.map(({ path }) => path)).toEqual([]);
  });

  test("through Baileys is in the known places only", () => {
    const opening =
      /(?<![\w.$])fetch\(|new WebSocket\(|\.request\(\{|from '(?:node:)?(?:undici|https?|http2|net|tls|dgram|axios|ws)'|import\('(?:node:)?(?:https?|http2|net|tls)'\)/g;
    const found = listFiles("node_modules/baileys/lib")
      .filter((path) => path.endsWith(".js"))
      .flatMap((path) => {
        const places = readFileSync(join(ROOT, path), "utf8").match(opening);
        return places ? [[path.replace("node_modules/baileys/lib/", ""), [...places]] as const] : [];
      });
    expect(Object.fromEntries(found)).toEqual(OPENED_BY_BAILEYS);
  });
});

/** These files, and platform files that only they import. */
function partsOf(owners: readonly string[]): Set<string> {
  const parts = new Set(owners);
  for (let size = 0; size !== parts.size; ) {
    size = parts.size;
    for (const { path } of sources) {
      const importers = sources.filter(({ imports }) =>
        imports.some(({ target, values }) => target === path && values.length > 0),
      );
      if (!path.startsWith("src/platform/") || importers.length === 0) continue;
      if (importers.every((importer) => parts.has(importer.path))) parts.add(path);
    }
  }
  return parts;
}

describe("files and names", () => {
  test("no folder has more than 20 files of its own beside tests", () => {
    const sizes = new Map<string, number>();
    for (const path of TREES.flatMap(listOwnFiles).filter((one) => isUnit({ path: one }))) {
      sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
    }
    const full = [...sizes].filter(([, size]) => size > MOST_FILES);
    expect(full.map(([folder, size]) => `${folder}: ${size}`)).toEqual([]);
    expect(sizes.get("src/core/webhooks")).toBeGreaterThan(5);
  });

  test("every file name is in kebab-case", () => {
    const paths = ["src", "migrations", "scripts", "test"].flatMap(listFiles);
    const wrong = paths.filter((path) =>
      path
        .replace(/\/README\.md$/, "")
        .split("/")
        .some(
          (part) =>
            !/^[a-z0-9]+(-[a-z0-9]+)*(\.unit|\.gate|\.isolated|\.pages|\.release)?(\.test|\.d)?(\.[a-z0-9]+)?$/.test(
              part,
            ),
        ),
    );
    expect(wrong).toEqual([]);
  });

  test("no file of the program is called test-: the tests are", () => {
    const program = ["src", "panel/src", "packages"].flatMap(listOwnFiles);
    expect(program.filter((path) => isUnit({ path }) && /\/test-[^/]*$/.test(path))).toEqual([]);
  });

  test("no file or type is called Service, Manager, Helper, Util or Dto", () => {
    const declared =
      /\b(?:class|interface|type|const|let|function (?=create|make|get|use))\s*(\w*(?:Service|Manager|Helper|Util|Dto)s?)\b/g;
    const named = everything.flatMap(({ path, text }) =>
      [...text.matchAll(declared)].map(([, name]) => `${path}: ${name}`),
    );
    const files = everything.filter(({ path }) =>
      /(service|manager|helper|util|dto)s?(\.test)?\.ts$/.test(path),
    );
    expect([...named, ...files.map(({ path }) => path)]).toEqual([]);
  });

  test("one exported type name means one thing", () => {
    const owners = new Map<string, string[]>();
    for (const { path, text } of sources) {
      for (const [, name = ""] of text.matchAll(EXPORTED_TYPE)) {
        owners.set(name, [...(owners.get(name) ?? []), path]);
      }
    }
    const twice = [...owners].filter(([, paths]) => paths.length > 1);
    expect(twice.map(([name, paths]) => `${name}: ${paths.join(", ")}`)).toEqual([]);
  });

  test("a file is named for its main export: one export has every word of the name", () => {
    const wrong = sources
      .filter((file) => file.path.startsWith("src/") && !isNamedForExport(file))
      .map(({ path }) => path);
    expect(wrong.toSorted()).toEqual(NAMED_FOR_A_SUBJECT.toSorted());
  });

  test("an error's name, which logs show, is the name of its class", () => {
    const classes = sources.flatMap(({ text }) => [
      ...text.matchAll(/class (\w+) extends \w*Error[^{]*\{\n\s*override readonly name = "(\w+)"/g),
    ]);
    expect(classes.length).toBeGreaterThan(10);
    expect(classes.filter(([, name, shown]) => name !== shown).map(([, name]) => name)).toEqual([]);
  });

  test("a comment names only identifiers that the code has", () => {
    const words = new Set(sources.flatMap(({ text }) => text.replace(COMMENT, " ").match(/\w+/g) ?? []));
    const gone = sources.flatMap(({ path, text }) =>
      [...text.matchAll(COMMENT)].flatMap(([comment]) =>
        [...comment.matchAll(/`(?:\w+\.)*#?([a-z]\w*[A-Z]\w*)/g)].flatMap(([, name = ""]) =>
          words.has(name) || NAMES_OF_OTHERS.has(name) ? [] : `${path}: ${name}`,
        ),
      ),
    );
    expect(gone).toEqual([]);
  });

  test("no literal is spread into a list or an object: its entries are written there directly", () => {
    const spread = everything.flatMap(({ path, text }) => {
      if (path.startsWith("migrations/")) return [];
      return [...text.matchAll(/\.\.\.(\{|\["[^\]\n]*\](?=\s*[,\]]))/g)].map(
        ({ index }) => `${path}:${text.slice(0, index).split("\n").length}`,
      );
    });
    expect(spread).toEqual([]);
  });
});

test("every fix for Baileys begins with the defect, the installed version and its upstream thread", () => {
  const versions = ["baileys", "libsignal"].map((name) => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"));
    return `// ${name === "baileys" ? "Baileys" : name} ${version} `;
  });
  const thread =
    /^\/\/ (Upstream: .*https:\/\/github\.com\/WhiskeySockets\/\S+\/\d+|Not reported upstream[.;])/;
  const fixes = sources.filter(({ path }) => path.startsWith("src/network/whatsapp/baileys-fixes/"));
  const unnamed = fixes.filter(({ text }) => {
    const [defect = "", upstream = ""] = text.split("\n");
    return !versions.some((version) => defect.startsWith(version)) || !thread.test(upstream);
  });
  expect(fixes.length).toBeGreaterThan(10);
  expect(unnamed.map(({ path }) => path)).toEqual([]);
});

/** A feature's main file and its contract are named for their folder. */
function isNamedForExport({ path, text }: SourceFile): boolean {
  const [name = "", folder] = path.replace(/\.ts$/, "").split("/").reverse();
  if (name === "contract" || name === folder) return true;
  const declared = [...text.matchAll(EXPORTED)].map(([, exported = ""]) => exported);
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = ""]) =>
    names.split(",").map((one) => one.trim().split(" ").at(-1) ?? ""),
  );
  return [...declared, ...listed].some((exported) => {
    const words = wordsOf(exported);
    return wordsOf(name).every((word) => words.some((one) => one.startsWith(stemOf(word))));
  });
}

/** `createSendRunner` contains the words of `run-send`. Digits and brands stay whole. */
function wordsOf(name: string): string[] {
  return name
    .replace(/WhatsApp|OpenApi|OAuth|N8n/gi, (brand) => brand[0] + brand.slice(1).toLowerCase())
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1-$2")
    .toLowerCase()
    .split(/[-_]/)
    .filter((word) => word !== "");
}

function stemOf(word: string): string {
  return word.replace(/(ies|[^s]s|[ey])$/, (end) =>
    end === "ies" ? "" : end.length === 2 ? end.slice(0, 1) : "",
  );
}

describe("the project's documents", () => {
  const pages = [
    ...listFiles("docs"),
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "examples/README.md",
    "test/README.md",
    "packages/client/README.md",
    "packages/webhooks/README.md",
    "packages/n8n-nodes-waygate/README.md",
  ].filter((path) => path.endsWith(".md") && existsSync(join(ROOT, path)));

  test("have at most 60,000 words that are written by hand", () => {
    const texts = pages.map((page) => readFileSync(join(ROOT, page), "utf8"));
    const byHand = texts.filter((text) => !text.includes("\n<!-- Written by `npm run generate` from"));
    const words = byHand.flatMap((text) => text.match(/\S+/g) ?? []);
    expect(words.length).toBeLessThanOrEqual(60_000);
  });

  test("link to files that exist", () => {
    const broken = pages.flatMap((page) => {
      const text = readFileSync(join(ROOT, page), "utf8").replace(/^(```|~~~)[\s\S]*?^\1/gm, "");
      return [...text.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)]
        .map(([, link = ""]) => link.split("#")[0] ?? "")
        .filter((link) => link !== "" && !/^[a-z]+:/.test(link))
        .filter((link) => !existsSync(join(ROOT, dirname(page), decodeURI(link))))
        .map((link) => `${page} -> ${link}`);
    });
    expect(broken).toEqual([]);
  });

  test("name files that exist", () => {
    const named = pages.flatMap((page) =>
      [
        ...readFileSync(join(ROOT, page), "utf8").matchAll(
          /`((?:src|test|panel|packages|docs)\/[^`\s*:<]+\.(?:ts|tsx|js|md))`/g,
        ),
      ].map(([, path = ""]) => `${page}: ${path}`),
    );
    expect(named.filter((one) => one.endsWith(".test.ts")).length).toBeGreaterThan(100);
    expect(named.filter((one) => !existsSync(join(ROOT, one.split(": ")[1] ?? "")))).toEqual([]);
  });

  test("count what they say of the standard: each requirement once, with a place or a reason", () => {
    const page = readFileSync(join(ROOT, "docs/reliability/asvs.md"), "utf8");
    const verdicts = ["Met", "Not met", "Not applicable"];
    const rows = page.split(/^## /m).flatMap((part) => {
      const [heading = ""] = part.split("\n", 1);
      const items = part.replaceAll("\n  ", " ").matchAll(/^\* ((?:[*\d.]+, )*[*\d.]+) [^:]+: .+$/gm);
      return verdicts.includes(heading)
        ? [...items].flatMap(([, ids = ""]) => ids.split(", ").map((id) => ({ heading, id })))
        : [];
    });
    expect(new Set(rows.map(({ id }) => id.replaceAll("*", ""))).size).toBe(rows.length);
    const countOf = (isFirst: boolean) =>
      verdicts.map(
        (verdict) =>
          rows.filter(({ heading, id }) => heading === verdict && id.startsWith("**") === isFirst).length,
      );
    const total = (counts: number[]) =>
      [...counts, counts.reduce((sum, count) => sum + count, 0)].join(" | ");
    expect(page).toContain(`| Level 1 | ${total(countOf(true))} |`);
    expect(page).toContain(`| Level 2 | ${total(countOf(false))} |`);
    expect([total(countOf(true)), total(countOf(false))].map((text) => text.split(" | ").at(-1))).toEqual([
      "70",
      "183",
    ]);
  });

  test("keep the architecture on two pages: 180 lines at most", () => {
    const page = join(ROOT, "ARCHITECTURE.md");
    const lines = existsSync(page) ? readFileSync(page, "utf8").trimEnd().split("\n").length : 0;
    expect(lines).toBeLessThanOrEqual(180);
  });
});

describe("the search for cycles of folders", () => {
  const file = (path: string, ...targets: string[]) => ({
    path,
    imports: targets.map((target) => ({ target, values: [] })),
  });

  test("finds those of folders, and of a folder with a file beside it, but none of files alone", () => {
    const cycles = findFolderCycles([
      file("a/x/one.ts", "a/y/one.ts"),
      file("a/y/one.ts"),
      file("a/y/two.ts", "a/x/deep/two.ts"),
      file("a/x/deep/two.ts"),
      file("b/main.ts", "b/part/one.ts", "b/other.ts"),
      file("b/part/one.ts", "b/types.ts"),
      file("b/types.ts", "b/main.ts"),
      file("c/one.ts", "c/two.ts"),
      file("c/two.ts", "c/one.ts", "a/x/one.ts"),
      file("d/part/one.ts", "d/types.ts"),
      file("d/types.ts"),
      file("d/main.ts", "d/part/one.ts"),
    ]);
    expect(cycles).toEqual(["a: x y", "b: main.ts part types.ts"]);
  });
});

describe("the parser of imports", () => {
  test("finds values, types, effects and dynamic imports", () => {
    const text = [
      'import { type A, b, c as d } from "./x.ts";',
      "import type { E } from 'pg';",
      'import * as all from "../y/z.ts";',
      'import Default, { type F } from "node:fs";',
      'export {\n  g,\n} from "./long.ts";',
      'import "./effect.ts";',
      'const later = await import("./later.ts");',
    ].join("\n");
    expect(readImports("src/a/b.ts", text)).toEqual([
      { target: "src/a/x.ts", values: ["b", "c"] },
      { target: "pg", values: [] },
      { target: "src/y/z.ts", values: ["*"] },
      { target: "node:fs", values: ["*"] },
      { target: "src/a/long.ts", values: ["g"] },
      { target: "src/a/effect.ts", values: ["*"] },
      { target: "src/a/later.ts", values: ["*"] },
    ]);
  });
});

/** `read`: a module listens to it. Otherwise: why none does. */
const BAILEYS_EVENTS: Record<keyof BaileysEventMap, string> = {
  "connection.update": "read",
  "creds.update": "read",
  "messaging-history.set": "read",
  "messaging-history.status": "the end of the history is not reported",
  "chats.upsert": "chats begin with their first message",
  "chats.update": "read",
  "lid-mapping.update": "read",
  "chats.delete": "the log keeps its messages",
  "presence.update": "presence is not reported",
  "contacts.upsert": "read",
  "contacts.update": "read",
  "messages.delete": "deletes them for the phone only; the log keeps them",
  "messages.update": "read",
  "messages.media-update": "read",
  "messages.upsert": "read",
  "messages.reaction": "reactions come from the journal",
  "message-receipt.update": "receipts are read from their stanza",
  "groups.upsert": "read",
  "groups.update": "read",
  "group-participants.update": "read from its stanza",
  "group.join-request": "requests to join are not reported",
  "group.member-tag.update": "tags of members are not shown",
  "blocklist.set": "the list is asked for",
  "blocklist.update": "the list is asked for",
  call: "read",
  "labels.edit": "read",
  "labels.association": "read",
  "newsletter.reaction": "channels are not followed",
  "newsletter.view": "channels are not followed",
  "newsletter-participants.update": "channels are not followed",
  "newsletter-settings.update": "channels are not followed",
  "message-capping.update": "a refused send asks for it",
  "chats.lock": "locked chats are shown as others",
  "settings.update": "settings of the phone's app are not shown",
};

test("every event of Baileys is read, or listed with the reason why not", () => {
  const listened = sources
    .filter(({ path }) => path.startsWith("src/network/whatsapp/"))
    .flatMap(({ text }) => [...text.matchAll(/\bev\.on\(\s*"([^"]+)"/g)].map(([, name]) => name ?? ""));
  const read = Object.entries(BAILEYS_EVENTS).flatMap(([name, how]) => (how === "read" ? [name] : []));
  expect([...new Set(listened)].sort()).toEqual(read.sort());
});
