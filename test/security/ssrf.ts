import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import fc from "fast-check";
import { createHttpRequester, type RawHttpResponse } from "../http-requester.ts";
import { disguises, spellings } from "../servers/internal-addresses.ts";
import { type AddressField, readAddressFields, withText } from "./address-fields.ts";
import { credentialsFor, type FuzzTarget, type FuzzTenant, startFuzzTarget } from "./fuzz-target.ts";
import { fieldValue } from "./json-values.ts";
import { isProxy, useSaved } from "./use-saved-address.ts";

export interface SsrfFigures {
  fields: number;
  /** Different addresses that were tried. */
  addresses: number;
  requests: number;
  /** Requests whose address was accepted or at least not refused as an input. */
  accepted: number;
  /** What was saved and then used: a webhook tested, an integration tested, an instance connected, a reply sent. */
  used: number;
  /** Requests by the operation, for the operations whose field names an address. */
  by_door: Record<string, number>;
  /** Requests that reached the server which redirects inward: it is allowed, what it names is not. */
  redirected: number;
  /** First lines of what reached the internal server. */
  hits: string[];
}

/** The metadata service of a cloud, as far as a request forger would notice. */
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

/** Its first line, and for a proxy who it says to be: that names the field which led here. */
function describeRequest(head: string): string {
  const [line = ""] = head.split("\r\n");
  const [, credentials] = /^proxy-authorization: basic (\S+)/im.exec(head) ?? [];
  return credentials ? `${line} for ${Buffer.from(credentials, "base64")}` : line;
}

/** An allowed receiver that sends every caller on to the internal server. */
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

export interface SsrfOptions {
  /** Also the fields whose name and description speak of no address. */
  everyField: boolean;
  /** How many forms of an internal address each field gets. */
  forms: number;
  /** Lets the gateway reach the internal server, to see which fields lead there at all. */
  isOpen?: boolean;
}

/** Puts addresses of an internal server into every field that may take one, and has the gateway use what it has saved. */
export async function forgeRequests({
  everyField,
  forms,
  isOpen = false,
}: SsrfOptions): Promise<SsrfFigures> {
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

/** Every spelling of loopback in every disguise, and its names. */
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

export function nameOf({ operation, path, provider }: AddressField): string {
  return [operation.id, provider, ...path].filter((part) => part && part !== "[]").join("/");
}

/** Names its field, in the path, or for a proxy in the credentials: a proxy sees no path. */
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

/** Sends the address, and has the gateway use it if it was saved. */
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
  if (response.status < 300) figures.used += await useSaved({ target, tenant, field, answer: response });
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
  // Without it the link of a text is not read.
  const preview = "link_preview" in properties ? { link_preview: true } : {};
  const named = [...required, ...["number", "from", "jid"].filter((name) => name in properties)];
  const body = Object.fromEntries(named.map((name) => [name, sampleOf(name) ?? "x"]));
  const more = MORE[provider ?? ""] ?? (isProxy(field) ? PROXIED : MORE[operation.id]);
  return createHttpRequester(() => gateway.url)(
    `${operation.method} ${path}`,
    withText({ ...body, ...preview, ...more }, field.path, text),
    {
      ...credentialsFor(operation, tenant, 1),
      // Each from an address of its own: too many wrong sign-ins from one of them are refused.
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

/** What a body must have beside its address, by provider or operation. */
const MORE: Record<string, object> = {
  typebot: { config: { public_id: "bot" } },
  chatwoot: { config: { access_token: "x", account_id: 1, inbox_id: 1 } },
  saveQuickReply: { shortcut: "forged", content: "x" },
};
/** The sandbox has no proxies. */
const PROXIED = { network: "whatsapp" };
