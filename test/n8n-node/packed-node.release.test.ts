import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance } from "../gateway.ts";
import { installPackages, type PackedPackage, packWorkspace } from "../run/installed-packages.ts";
import { makeScratchDir, type ScratchDir } from "../run/scratch-dir.ts";
import { startLocalServer } from "../servers/local-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: the node is a program in JavaScript here, and n8n's types are not installed
type Foreign = any;

interface HttpOptions {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

interface N8nContextOptions {
  /** The node's credential for the instance. */
  credential: { baseUrl: string; instanceId: string; apiKey: string };
  parameters?: Record<string, unknown>;
  items?: readonly Foreign[];
  executionId?: string;
  /** Data that n8n keeps in an execution and in its retry. */
  flow?: Record<string, unknown>;
  staticData?: Record<string, unknown>;
  webhookUrl?: string;
  continuesOnFail?: boolean;
}

/** Requests of a context with their bodies. */
const SENT = Symbol("sent");

/** The part of n8n that the nodes use, over real HTTP. */
function n8nContext(options: N8nContextOptions): Foreign {
  const { credential, parameters = {}, items = [{ json: {} }], staticData = {}, flow = {} } = options;
  const sent: HttpOptions[] = [];
  return {
    [SENT]: sent,
    getInputData: () => items,
    getNode: () => ({ id: "node-1", name: "Waygate" }),
    getWorkflow: () => ({ id: "workflow-1", name: "Shop" }),
    getWorkflowDataProxy: () => ({ $runIndex: 0 }),
    getWorkflowStaticData: () => staticData,
    getExecutionId: () => options.executionId ?? "1",
    getContext: () => flow,
    getCredentials: async () => credential,
    getNodeWebhookUrl: () => options.webhookUrl,
    continueOnFail: () => options.continuesOnFail ?? false,
    logger: { warn() {} },
    // Trigger nodes have no items, so their second argument is the fallback.
    getNodeParameter: (name: string, second: unknown, fallback?: unknown) =>
      name in parameters ? parameters[name] : typeof second === "number" ? fallback : second,
    helpers: {
      assertBinaryData: (index: number, name: string) => items[index].binary[name],
      getBinaryDataBuffer: async (index: number, name: string) =>
        Buffer.from(items[index].binary[name].data, "base64"),
      prepareBinaryData: async (bytes: Buffer, fileName: string, mimeType: string) => ({
        data: bytes.toString("base64"),
        fileName,
        mimeType,
      }),
      async httpRequestWithAuthentication(_type: string, request: HttpOptions) {
        sent.push(request);
        const { method, url, headers, body } = request;
        const response = await fetch(url, {
          method,
          headers: { ...headers, "x-api-key": credential.apiKey },
          body: typeof body === "object" ? new Uint8Array(body) : body,
        });
        return {
          statusCode: response.status,
          headers: Object.fromEntries(response.headers),
          body: Buffer.from(await response.arrayBuffer()),
        };
      },
    },
  };
}

/** The imports of the nodes from n8n. */
const N8N_WORKFLOW = `class NodeError extends Error {
  constructor(node, error, options = {}) {
    super(options.message ?? error.message);
    Object.assign(this, { node, ...options });
  }
}
exports.NodeApiError = class NodeApiError extends NodeError {};
exports.NodeOperationError = class NodeOperationError extends NodeError {};
exports.NodeConnectionTypes = { Main: "main" };
`;

/** Loads a class of the installed package as n8n does. */
function loadNode(installedIn: string, path: string): Foreign {
  const require = createRequire(join(installedIn, "package.json"));
  const loaded = require(`n8n-nodes-waygate/dist/${path}.js`);
  const [name = ""] = path.split("/").at(-1)?.split(".") ?? [];
  return new loaded[name]();
}

const ANA = "5511988887777";
/** Unknown in the sandbox. */
const NOBODY = "5511999990000";
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const UNREACHABLE = { baseUrl: "http://127.0.0.1:1", instanceId: "1", apiKey: "wg_x" };

let scratch: ScratchDir;
let packed: PackedPackage;
let gateway: TestGateway;
let shop: TestInstance;
let credential: { baseUrl: string; instanceId: string; apiKey: string };
let home = "";

beforeAll(async () => {
  scratch = await makeScratchDir();
  home = join(scratch.path, "home");
  packed = await packWorkspace("n8n-nodes-waygate", scratch.path);
  // n8n provides its own library to nodes.
  await installPackages(home, [packed], "--offline", "--legacy-peer-deps");
  const library = join(home, "node_modules/n8n-workflow");
  await mkdir(library);
  await writeFile(join(library, "index.js"), N8N_WORKFLOW);
  gateway = await startTestGateway();
  shop = await gateway.connectInstance({ name: "Shop" });
  credential = { baseUrl: `${gateway.url}/`, instanceId: String(shop.id), apiKey: shop.api_key };
}, 300_000);
afterAll(async () => {
  await gateway?.stop();
  await scratch?.remove();
});

const execute = (context: ReturnType<typeof n8nContext>) =>
  loadNode(home, "nodes/Waygate/Waygate.node").execute.call(context);

describe("the package of the n8n node", () => {
  test("contains what its manifest names, the licence, and no source", async () => {
    const manifest = JSON.parse(
      await readFile(join(home, "node_modules/n8n-nodes-waygate/package.json"), "utf8"),
    );
    const named: string[] = [...manifest.n8n.nodes, ...manifest.n8n.credentials];
    expect(named).toHaveLength(3);
    expect(packed.files).toEqual(
      expect.arrayContaining([...named, "LICENSE.md", "README.md", "dist/nodes/Waygate/waygate.svg"]),
    );
    expect(packed.files.filter((path) => /\.ts$|test|node_modules/.test(path))).toEqual([]);
    expect(packed.size).toBeLessThan(60_000);
  });

  test("has a credential that sends the key, with a test", () => {
    const { authenticate, test: tested } = loadNode(home, "credentials/WaygateApi.credentials");
    expect(authenticate.properties.headers).toEqual({ "x-api-key": "={{$credentials.apiKey}}" });
    expect(tested.request.url).toContain("/api/v1/instances/");
  });
});

describe("the packed n8n node", () => {
  test("sends a text to each item, and continues after an error", async () => {
    const parameters = { resource: "message", operation: "sendText", number: ANA, text: "Olá" };
    const [items] = await execute(n8nContext({ credential, parameters, items: [{}, {}] }));
    expect(items).toMatchObject([
      { json: { status: "sent" }, pairedItem: { item: 0 } },
      { json: { status: "sent" }, pairedItem: { item: 1 } },
    ]);
    expect(items[0].json.message_id).not.toBe(items[1].json.message_id);
    const wrong = { ...parameters, number: NOBODY };
    const failed = execute(n8nContext({ credential, parameters: wrong }));
    await expect(failed).rejects.toMatchObject({
      message: "The number is not on the network.",
      httpCode: "404",
      itemIndex: 0,
      description: expect.stringContaining("RECIPIENT_NOT_FOUND"),
    });
    const [errors] = await execute(n8nContext({ credential, parameters: wrong, continuesOnFail: true }));
    expect(errors).toMatchObject([{ json: { error: "The number is not on the network." } }]);
  });

  test("returns the message of the first execution when that is repeated", async () => {
    const parameters = { resource: "message", operation: "sendText", number: ANA, text: "Once" };
    const flow = {};
    const first = await execute(n8nContext({ credential, parameters, flow, executionId: "20" }));
    const again = await execute(n8nContext({ credential, parameters, flow, executionId: "21" }));
    const other = await execute(n8nContext({ credential, parameters, executionId: "22" }));
    const idOf = (output: { json: { message_id: string } }[][]) => output[0]?.[0]?.json.message_id;
    expect(idOf(again)).toBe(idOf(first));
    expect(idOf(other)).not.toBe(idOf(first));
  });

  test("sends a key of the user's own instead of its own", async () => {
    const additionalFields = { idempotencyKey: "evt_1" };
    const parameters = {
      resource: "message",
      operation: "sendText",
      number: ANA,
      text: "Hi",
      additionalFields,
    };
    const context = n8nContext({ credential, parameters });
    await execute(context);
    expect(context[SENT][0].headers["idempotency-key"]).toBe("evt_1");
    expect(context[SENT][0].body).toBe(JSON.stringify({ number: ANA, text: "Hi" }));
  });

  test("sends the binary data of an item, and downloads it again", async () => {
    const binary = { data: { data: PNG, fileName: "preço.png", mimeType: "image/png" } };
    const send = {
      resource: "message",
      operation: "sendMedia",
      fileSource: "binary",
      number: ANA,
      caption: "look",
    };
    const [[sent]] = await execute(n8nContext({ credential, parameters: send, items: [{ binary }] }));
    expect(sent.json.status).toBe("sent");
    const { message_id } = sent.json;
    const download = { resource: "message", operation: "downloadFile", message_id, outputFieldName: "file" };
    const [[file]] = await execute(n8nContext({ credential, parameters: download }));
    expect(file.binary.file).toMatchObject({ data: PNG, mimeType: "image/png" });
    expect(file.json).toMatchObject({ mime_type: "image/png", size: Buffer.from(PNG, "base64").length });
  });

  test.each([
    ["an address", { fileSource: "url", url: `data:image/png;base64,${PNG}`, base64: "wrong" }],
    ["base64", { fileSource: "base64", base64: PNG, url: "wrong" }],
  ])("sends a file that is given as %s, and nothing that is not chosen", async (_, file) => {
    const parameters = { resource: "message", operation: "sendMedia", number: ANA, ...file };
    const [[sent]] = await execute(n8nContext({ credential, parameters }));
    const { data: message } = await shop.client.getMessage({ id: shop.id, messageId: sent.json.message_id });
    expect(message).toMatchObject({ type: "image", media: { mime_type: "image/png" } });
  });

  test("reads every page, or as many rows as the limit allows", async () => {
    const pages = [200, 200, 50];
    const limits: (string | null)[] = [];
    const { url, shut } = await startLocalServer((request, response) => {
      const query = new URL(request.url ?? "", "http://x").searchParams;
      limits.push(query.get("limit"));
      const at = Number(query.get("cursor") ?? 0);
      const length = Math.min(pages[at] ?? 0, Number(query.get("limit")));
      const data = Array.from({ length }, (_, row) => ({ row: at * 200 + row }));
      const pagination = { has_more: at < 2, next_cursor: at < 2 ? String(at + 1) : null };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ success: true, data, pagination }));
    });
    try {
      const at = { ...credential, baseUrl: url };
      const parameters = { resource: "chat", operation: "getAll", returnAll: true };
      const [all] = await execute(n8nContext({ credential: at, parameters }));
      expect([all.length, all[449].json.row]).toEqual([450, 449]);
      const some = { ...parameters, returnAll: false, limit: 250 };
      const [limited] = await execute(n8nContext({ credential: at, parameters: some }));
      expect([limited.length, limits.slice(3)]).toEqual([250, ["200", "50"]]);
    } finally {
      await shut();
    }
  });

  test("makes a group, and returns an item for each row of a list", async () => {
    const create = { resource: "group", operation: "create", name: "Team", participants: ANA };
    const [[group]] = await execute(n8nContext({ credential, parameters: create }));
    expect(group.json).toMatchObject({ name: "Team" });
    const list = { resource: "group", operation: "getAll", returnAll: true };
    const [groups] = await execute(n8nContext({ credential, parameters: list }));
    expect(groups.map(({ json }: { json: { jid: string } }) => json.jid)).toContain(group.json.jid);
  });
});

describe("the packed n8n trigger", () => {
  const webhookUrl = "https://n8n.example.com/webhook/a/waygate";
  const open = (staticData: Record<string, unknown>, parameters: Record<string, unknown> = {}) =>
    n8nContext({
      credential,
      staticData,
      webhookUrl,
      parameters: { events: ["message.received"], exclude: ["groups"], ...parameters },
    });
  const methods = () => loadNode(home, "nodes/WaygateTrigger/WaygateTrigger.node").webhookMethods.default;
  const listed = async () => (await shop.client.listWebhooks({ id: shop.id })).data;

  test("creates its webhook once, recognises it, and deletes it", async () => {
    const staticData: Record<string, unknown> = {};
    const { checkExists, create, delete: remove } = methods();
    expect(await checkExists.call(open(staticData))).toBe(false);
    expect(await create.call(open(staticData))).toBe(true);
    expect(await checkExists.call(open(staticData))).toBe(true);
    expect(await listed()).toMatchObject([{ name: "n8n: Shop", url: webhookUrl, exclude: ["groups"] }]);
    expect(staticData.secret).toMatch(/^whsec_.{20,}/);
    expect(await remove.call(open(staticData))).toBe(true);
    expect([await listed(), staticData]).toEqual([[], {}]);
    // An activation whose webhook was deleted at the gateway.
    expect(await remove.call(open({ webhookId: 4711, secret: "x" }))).toBe(true);
  });

  test.each([
    ["its events were changed", { events: ["message.received", "message.read"] }, {}],
    ["n8n has lost the secret", {}, { secret: undefined }],
    ["n8n has lost everything", {}, { secret: undefined, webhookId: undefined }],
    ["the secret was changed at the gateway", {}, { secret: "whsec_of_another_day_0000" }],
  ])("makes its webhook again when %s", async (_, parameters, lost) => {
    const staticData: Record<string, unknown> = {};
    const { checkExists, create, delete: remove } = methods();
    await create.call(open(staticData));
    Object.assign(staticData, lost);
    expect(await checkExists.call(open(staticData, parameters))).toBe(false);
    expect(await listed()).toEqual([]);
    await create.call(open(staticData, parameters));
    expect(await checkExists.call(open(staticData, parameters))).toBe(true);
    await remove.call(open(staticData));
  });

  test("deletes its webhook later when the gateway cannot be reached", async () => {
    const staticData: Record<string, unknown> = {};
    const { checkExists, create, delete: remove } = methods();
    await create.call(open(staticData));
    const kept = { ...staticData };
    const away = { ...open(staticData), getCredentials: async () => UNREACHABLE };
    expect(await remove.call(away)).toBe(false);
    expect(staticData).toEqual(kept);
    await expect(checkExists.call(away)).rejects.toThrow();
    expect(await remove.call(open(staticData))).toBe(true);
    expect(await listed()).toEqual([]);
  });

  test("shows the sentence of the gateway when it refuses the webhook", async () => {
    const created = methods().create.call(open({}, { events: ["no.such.event"] }));
    await expect(created).rejects.toMatchObject({ message: expect.stringContaining('"no.such.event"') });
  });
});
