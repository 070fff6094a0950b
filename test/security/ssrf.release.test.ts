import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Client, createClient } from "../../src/client/client.ts";
import { contract } from "../../src/contract.ts";
import { chatwootConfig } from "../../src/extensions/integrations/chatwoot/chatwoot-config.ts";
import { n8nConfig } from "../../src/extensions/integrations/n8n/n8n-config.ts";
import { typebotConfig } from "../../src/extensions/integrations/typebot/typebot-config.ts";
import type { Route } from "../../src/platform/http/route.ts";
import { waitUntil } from "../gateway.ts";
import { createHttpRequester, type RawHttpResponse } from "../http-requester.ts";
import { disguises, spellings } from "../servers/internal-addresses.ts";
import { credentialsFor, type FuzzTarget, type FuzzTenant, startFuzzTarget } from "./fuzz-target.ts";
import { fieldValue } from "./json-values.ts";
import { type Operation, type OperationSchema, readOperations, resolveSchema } from "./operations.ts";
import { isFullRun, printFigures } from "./run-size.ts";

/** A text field, which may accept an address. */
interface AddressField {
  operation: Operation;
  /** Path in the body; `[]` is the first list item. */
  path: string[];
  /** Of an integration. */
  provider?: string;
  /** Its name or description mentions something that is fetched or called. */
  isNamedForOne: boolean;
}

const NAMED_FOR_ONE =
  /url|uri|link|media|proxy|picture|photo|image|file|base64|address|host|hook|sticker|audio|video|vcard/i;
const CONFIGS = { n8n: n8nConfig, typebot: typebotConfig, chatwoot: chatwootConfig };
const MOST_DEPTH = 4;

/** All text fields of request bodies, including aliases. */
function readAddressFields(): AddressField[] {
  const operations = readOperations();
  const fields = operations.flatMap((operation) => {
    const { aliases = {}, upload } = (contract as Record<string, Route>)[operation.id] ?? {};
    // The document shows a file upload; an address is accepted too.
    const uploaded = upload === undefined ? [] : [{ path: [upload], text: upload }];
    const found = [...textsIn(operation.body ?? {}, []), ...uploaded];
    const others = found.flatMap(({ path, text }) =>
      (aliases[path.join(".")] ?? []).map((alias) => ({ path: alias.split("."), text: `${text} ${alias}` })),
    );
    return [...found, ...others].map(({ path, text }) => fieldOf(operation, path, text));
  });
  const save = operations.find(({ id }) => id === "saveIntegration");
  if (!save) throw new Error("There is no operation saveIntegration.");
  const configured = Object.entries(CONFIGS).flatMap(([provider, config]) => {
    const schema = z.toJSONSchema(config, { io: "input", unrepresentable: "any" }) as OperationSchema;
    return textsIn(schema, []).map(({ path, text }) => ({
      ...fieldOf(save, ["config", ...path], text),
      provider,
    }));
  });
  return [...fields, ...configured];
}

function fieldOf(operation: Operation, path: string[], text: string): AddressField {
  return { operation, path, isNamedForOne: NAMED_FOR_ONE.test(text) };
}

interface TextPlace {
  path: string[];
  text: string;
}

function textsIn(schema: OperationSchema & { description?: string }, path: string[]): TextPlace[] {
  const {
    type,
    enum: values,
    properties = {},
    items,
    anyOf = [],
    allOf = [],
    description,
  } = resolveSchema(schema) as OperationSchema & { description?: string };
  if (path.length > MOST_DEPTH) return [];
  const own =
    [type].flat().includes("string") && !values
      ? [{ path, text: `${path.join(".")} ${description ?? ""}` }]
      : [];
  const found = [
    ...own,
    ...Object.entries(properties).flatMap(([name, one]) => textsIn(one, [...path, name])),
    ...(items ? textsIn(items, [...path, "[]"]) : []),
    ...[...anyOf, ...allOf].flatMap((one) => textsIn({ description, ...one } as OperationSchema, path)),
  ];
  return [...new Map(found.map((one) => [one.path.join("."), one])).values()];
}

/** A body with the text at the path. */
function withText(body: Readonly<Record<string, unknown>>, path: readonly string[], text: string): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return text;
  const inner = withText((body[name] as Record<string, unknown> | undefined) ?? {}, rest, text);
  return name === "[]" ? [inner] : { ...body, [name]: inner };
}

interface SavedAddress {
  target: FuzzTarget;
  tenant: FuzzTenant;
  field: AddressField;
  /** The response that saved the address. */
  response: RawHttpResponse;
}

/** Only WhatsApp instances use a proxy. */
function isProxy({ operation, path }: Pick<AddressField, "operation" | "path">): boolean {
  return path[0] === "proxy" && /Instance$/.test(operation.id);
}

/**
 * Makes the gateway use the saved address and returns the number of uses. Global webhooks receive every event anyway.
 */
async function useSaved(saved: SavedAddress): Promise<number> {
  const { target, tenant, field } = saved;
  const { id: operation } = field.operation;
  // The administrative token creates resources of the owner's account.
  const client = field.operation.credentials.includes("adminToken")
    ? target.gateway.owner
    : createClient({ baseUrl: target.gateway.url, token: tenant.token });
  const use = isProxy(field)
    ? useProxy
    : operation === "saveQuickReply"
      ? useQuickReply
      : operation === "saveIntegration"
        ? useIntegration
        : /webhook|instance/i.test(operation) && !/global/i.test(operation)
          ? useWebhooks
          : undefined;
  return (await use?.(client, saved)) ?? 0;
}

async function useProxy(client: Client, { response, tenant }: SavedAddress): Promise<number> {
  const id = Number(response.body.data?.id ?? tenant.proxied);
  const isUsed = await succeeds(client.connectInstance({ id, wait_seconds: 3 }));
  // Waits, because a busy machine may not have tried yet.
  if (isUsed) await waitUntil(() => hasTried(client, id));
  if (id === tenant.proxied) await succeeds(client.logoutInstance({ id }));
  else await client.deleteInstance({ id });
  return isUsed;
}

async function hasTried(client: Client, id: number): Promise<boolean> {
  const { status, attempts } = (await client.getInstanceStatus({ id })).data;
  return status !== "connecting" || attempts > 0;
}

async function useQuickReply(client: Client, { tenant }: SavedAddress): Promise<number> {
  const id = tenant.instance;
  return succeeds(client.sendText({ id, number: "5511987651234", quick_reply: "forged", async: false }));
}

async function useIntegration(client: Client, { tenant, field }: SavedAddress): Promise<number> {
  const provider = field.provider as "n8n" | "typebot" | "chatwoot";
  return succeeds(client.testIntegration({ id: tenant.instance, provider }));
}

/** Uses the webhooks of a new instance, which is removed again, or of the tenant. */
async function useWebhooks(client: Client, { response, tenant, field }: SavedAddress): Promise<number> {
  const isNew = field.operation.path === "/api/v1/instances" || field.operation.path === "/instance/create";
  const id = isNew ? Number(response.body.data?.id) : tenant.instance;
  let used = 0;
  for (const webhook of (await client.listWebhooks({ id })).data) {
    used += await succeeds(client.testWebhook({ id, webhookId: webhook.id }));
  }
  if (isNew) await client.deleteInstance({ id });
  return used;
}

/** Counts a refusal as no use, because the network may have caused it. */
async function succeeds(request: Promise<unknown>): Promise<number> {
  return request.then(
    () => 1,
    () => 0,
  );
}

interface SsrfFigures {
  fields: number;
  /** Distinct addresses that were tried. */
  addresses: number;
  requests: number;
  /** Accepted requests, and those not rejected as invalid input. */
  accepted: number;
  /** Saved and then used: webhook test, integration test, instance connection, reply. */
  used: number;
  /** Requests by operation, for fields that name an address. */
  by_door: Record<string, number>;
  /** Requests to the redirector, which is allowed, unlike its target. */
  redirected: number;
  /** First lines of requests that reached the internal server. */
  hits: string[];
}

/** A metadata service, as far as a forged request can see it. */
interface InternalServer {
  port: number;
  hits: string[];
  close(): void;
}

async function startInternalServer(): Promise<InternalServer> {
  const hits: string[] = [];
  const servers: Server[] = [];
  let port = 0;
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => {
        hits.push(describeRequest(bytes.toString("latin1")));
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\ninternal");
      });
    });
    server.listen(port, host);
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
    servers.push(server);
  }
  return { port, hits, close: () => servers.map((server) => server.close()) };
}

/** The request line, and proxy credentials: they identify the field. */
function describeRequest(head: string): string {
  const [line = ""] = head.split("\r\n");
  const [, credentials] = /^proxy-authorization: basic (\S+)/im.exec(head) ?? [];
  return credentials ? `${line} for ${Buffer.from(credentials, "base64")}` : line;
}

/** A permitted receiver that redirects to the internal server. */
async function startRedirector(to: string) {
  let redirected = 0;
  const server = createHttpServer((_, response) => {
    redirected += 1;
    response.writeHead(redirected % 2 ? 302 : 307, { location: to }).end();
  });
  server.listen(0, "127.0.0.2");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, count: () => redirected, close: () => void server.close() };
}

interface SsrfOptions {
  /** Includes fields whose name and description mention no address. */
  everyField: boolean;
  /** Spellings of an internal address for each field. */
  forms: number;
  /** Allows the internal server, to see which fields lead there. */
  isOpen?: boolean;
}

/** Puts internal addresses into every field that may accept one, and makes the gateway use what it saved. */
async function forgeRequests({ everyField, forms, isOpen = false }: SsrfOptions): Promise<SsrfFigures> {
  const internal = await startInternalServer();
  const redirector = await startRedirector(`http://127.0.0.1:${internal.port}/latest/meta-data/`);
  const receiver = `http://127.0.0.2:${redirector.port}/x`;
  const allowedHosts = isOpen ? "loopback" : `external,127.0.0.2:${redirector.port}`;
  const target = await startFuzzTarget({ allowedHosts, receiver });
  try {
    const fields = readAddressFields().filter((field) => everyField || field.isNamedForOne);
    const addresses = internalAddresses(internal.port);
    const figures = { requests: 0, accepted: 0, used: 0, by_door: {} as Record<string, number> };
    const tried = new Set<string>();
    for (const [nth, field] of fields.entries()) {
      const step = Math.max(1, Math.floor(addresses.length / forms));
      const chosen = Array.from(
        { length: forms - 1 },
        (_, form) => addresses[(nth + form * step) % addresses.length] ?? "",
      );
      const texts = isOpen ? [openAddress(field, internal.port)] : [...chosen, receiver];
      for (const text of texts) {
        tried.add(text);
        await forge({ target, field, text, nth: figures.requests }, figures);
      }
    }
    return {
      fields: fields.length,
      addresses: tried.size,
      ...figures,
      redirected: redirector.count(),
      hits: [...new Set(internal.hits)],
    };
  } finally {
    await target.stop();
    internal.close();
    redirector.close();
  }
}

/** Every spelling and name of loopback. */
function internalAddresses(port: number): string[] {
  const hosts = [
    ...spellings([127, 0, 0, 1]),
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
  ];
  return hosts.flatMap((host) => disguises(host, port));
}

function nameOf({ operation, path, provider }: AddressField): string {
  return [operation.id, provider, ...path].filter((part) => part && part !== "[]").join("/");
}

/** Identifies its field in the path, or in the credentials because a proxy sees no path. */
function openAddress(field: AddressField, port: number): string {
  if (isProxy(field) || field.operation.id === "testProxy")
    return `http://${encodeURIComponent(nameOf(field))}:x@127.0.0.1:${port}`;
  return `http://127.0.0.1:${port}/${nameOf(field)}`;
}

interface Forgery {
  target: FuzzTarget;
  field: AddressField;
  text: string;
  nth: number;
}

/** Sends the address and makes the gateway use it if it was saved. */
async function forge(
  { target, field, text, nth }: Forgery,
  figures: Pick<SsrfFigures, "requests" | "accepted" | "used" | "by_door">,
): Promise<void> {
  const { id } = field.operation;
  const tenant = await target.tenant();
  const response = await request(target, tenant, field, { text, nth });
  figures.requests += 1;
  if (field.isNamedForOne) figures.by_door[id] = (figures.by_door[id] ?? 0) + 1;
  if (response.status !== 400) figures.accepted += 1;
  if (response.status < 300) figures.used += await useSaved({ target, tenant, field, response });
}

async function request(
  { gateway }: FuzzTarget,
  tenant: FuzzTenant,
  field: AddressField,
  { text, nth }: { text: string; nth: number },
): Promise<RawHttpResponse> {
  const { operation, provider } = field;
  const known = tenant.knownFor(operation);
  const sampleOf = (name: string) =>
    known[name]?.[0] ??
    fc.sample(fieldValue(name, { type: "string", maxLength: 10 }, known), { numRuns: 1, seed: 7 })[0];
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(placeInPath(field, tenant, name) ?? sampleOf(name))),
  );
  const { required = [], properties = {} } = operation.body ?? {};
  // Without it links in a text are not fetched.
  const preview = "link_preview" in properties ? { link_preview: true } : {};
  const named = [...required, ...["number", "from", "jid"].filter((name) => name in properties)];
  const body = Object.fromEntries(named.map((name) => [name, sampleOf(name) ?? "x"]));
  const more = MORE[provider ?? ""] ?? (isProxy(field) ? PROXIED : MORE[operation.id]);
  return createHttpRequester(() => gateway.url)(
    `${operation.method} ${path}`,
    withText({ ...body, ...preview, ...more }, field.path, text),
    {
      ...credentialsFor(operation, tenant, 1),
      // Separate addresses, because too many failed sign-ins from one are refused.
      "x-forwarded-for": `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`,
    },
  );
}

function placeInPath({ operation, provider, ...field }: AddressField, tenant: FuzzTenant, name: string) {
  if (name === "provider") return provider;
  if (name === "id" && operation.id === "updateInstance" && isProxy({ operation, ...field }))
    return tenant.proxied;
  return undefined;
}

/** Other required fields, by provider or operation. */
const MORE: Record<string, object> = {
  typebot: { config: { public_id: "bot" } },
  chatwoot: { config: { access_token: "x", account_id: 1, inbox_id: 1 } },
  saveQuickReply: { shortcut: "forged", content: "x" },
};
/** Only WhatsApp instances have proxies. */
const PROXIED = { network: "whatsapp" };

/** Fields whose address the gateway requests at once or in a test. The list may grow. */
const CALLED = [
  "sendText/text",
  "sendMedia/url",
  "sendMedia/base64",
  "sendMedia/file/url",
  "createCampaign/media/url",
  "updateCampaign/media/url",
  "sandboxReceive/media/url",
  "createWebhook/url",
  "saveIntegration/n8n/config/webhook_url",
  "saveIntegration/typebot/config/base_url",
  "saveIntegration/chatwoot/config/url",
  "setProfilePhoto/url",
  "setProfilePhoto/base64",
  "updateGroupSettings/image",
  "saveQuickReply/media_url",
  "createInstance/webhook_url",
  "createInstance/webhook/url",
  "createInstance/proxy/url",
  "updateInstance/proxy/url",
  "testProxy/url",
];

test("A gateway that may reach an internal server calls it for these fields: the attack below is real", {
  timeout: 1_200_000,
}, async () => {
  const { fields, hits } = await forgeRequests({ everyField: isFullRun, forms: 1, isOpen: true });
  printFigures("Fields whose address is called where that is allowed", { fields, called: hits });
  expect(CALLED.filter((name) => !hits.some((hit) => hit.includes(name)))).toEqual([]);
});

test("No field of the contract makes the gateway call an internal address, in any form or by a redirect", {
  timeout: 1_200_000,
}, async () => {
  const figures = await forgeRequests({ everyField: isFullRun, forms: isFullRun ? 12 : 4 });
  printFigures("Forged addresses", figures);
  expect(figures.hits).toEqual([]);
  expect(figures.redirected).toBeGreaterThan(5);
});
