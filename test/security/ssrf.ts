import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import fc from "fast-check";
import { createClient } from "../../src/client.ts";
import { disguises, spellings } from "../internal-addresses.ts";
import { createRawCall } from "../raw-call.ts";
import { type AddressField, readAddressFields, withText } from "./address-fields.ts";
import { credentialsFor, type FuzzTarget, type FuzzTenant, startFuzzTarget } from "./fuzz-target.ts";
import { fieldValue } from "./json-values.ts";

export interface SsrfFigures {
  fields: number;
  requests: number;
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
        hits.push(bytes.toString("latin1").split("\r\n")[0] ?? "");
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
    let requests = 0;
    for (const [nth, field] of fields.entries()) {
      const step = Math.max(1, Math.floor(addresses.length / forms));
      const chosen = Array.from(
        { length: forms - 1 },
        (_, form) => addresses[(nth + form * step) % addresses.length],
      );
      const texts = isOpen ? [`http://127.0.0.1:${internal.port}/`] : [...chosen, receiver];
      for (const text of texts) {
        const tenant = await target.tenant();
        await ask(target, tenant, field, `${text}${isOpen ? nameOf(field) : ""}`);
        requests += 1;
      }
    }
    await useWhatIsSaved(target);
    return {
      fields: fields.length,
      requests,
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

async function ask(
  { gateway }: FuzzTarget,
  tenant: FuzzTenant,
  field: AddressField,
  text: string,
): Promise<void> {
  const { operation, provider } = field;
  const known = tenant.knownFor(operation);
  const sampleOf = (name: string) =>
    known[name]?.[0] ??
    fc.sample(fieldValue(name, { type: "string", maxLength: 10 }, known), { numRuns: 1, seed: 7 })[0];
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(name === "provider" && provider ? provider : sampleOf(name))),
  );
  const { required = [], properties = {} } = operation.body ?? {};
  const named = [...required, ...["number", "from"].filter((name) => name in properties)];
  const body = Object.fromEntries(named.map((name) => [name, sampleOf(name) ?? "x"]));
  await createRawCall(() => gateway.url)(
    `${operation.method} ${path}`,
    withText({ ...body, ...(provider && MORE[provider]) }, field.path, text),
    credentialsFor(operation, tenant, 1),
  );
}

/** What an integration must have beside its address. */
const MORE: Record<string, object> = {
  typebot: { config: { public_id: "bot" } },
  chatwoot: { config: { access_token: "x", account_id: 1, inbox_id: 1 } },
};

/** Tests every webhook and integration, and lets every instance connect by its proxy. */
async function useWhatIsSaved({ gateway, tenant }: FuzzTarget): Promise<void> {
  const { token } = await tenant();
  const user = createClient({ baseUrl: gateway.url, token });
  for (const { id } of (await user.listInstances({ limit: 200 })).data) {
    for (const webhook of (await user.listWebhooks({ id })).data) {
      await user.testWebhook({ id, webhookId: webhook.id }).catch(() => {});
    }
    for (const provider of ["n8n", "typebot", "chatwoot"] as const) {
      await user.testIntegration({ id, provider }).catch(() => {});
    }
    await user.connectInstance({ id, wait_seconds: 1 }).catch(() => {});
  }
}
