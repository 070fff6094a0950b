import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { GatewayError } from "../../gateway-error.ts";
import { createLog } from "../../log/log.ts";
import type { Authorise, CompletedRequest, Handlers } from "../handler.ts";
import { route } from "../route.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";

const contract = {
  relay: route({
    http: "POST /relay",
    access: "key",
    tag: "Relay",
    summary: "Send a request to another route",
    bodyLimitBytes: 10_000,
    input: z.object({
      method: z.string().default("GET"),
      path: z.string(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.string().optional(),
    }),
    output: z.object({ status: z.number(), text: z.string(), type: z.string().nullable() }),
  }),
  echo: route({
    http: "POST /echo/:name",
    access: "key",
    tag: "Relay",
    summary: "Return what has arrived",
    input: z.object({ name: z.string(), text: z.string().optional() }),
    output: z.object({ name: z.string(), text: z.string().optional(), ip: z.string() }),
  }),
  search: route({
    http: "GET /search",
    access: "key",
    tag: "Relay",
    summary: "Return the query",
    input: z.object({ q: z.string() }),
    output: z.object({ q: z.string() }),
  }),
  wait: route({
    http: "GET /wait",
    access: "key",
    tag: "Relay",
    summary: "Wait until the caller is gone",
    input: z.object({}),
    output: z.null(),
  }),
};

let arrived: () => void = () => {};
let left: () => void = () => {};

const handlers: Handlers<typeof contract> = {
  async relay({ input: { path, ...init }, fetchAsCaller, signal }) {
    const response = await fetchAsCaller(`http://any.invalid${path}`, { ...init, signal });
    const type = response.headers.get("content-type");
    return { status: response.status, text: await response.text(), type };
  },
  echo: async ({ input, ip }) => ({ ...input, ip }),
  search: async ({ input }) => input,
  async wait({ signal }) {
    arrived();
    await once(signal, "abort");
    left();
    return null;
  },
};

const authorise: Authorise = async (_, { credential, responseHeaders }) => {
  responseHeaders["x-ratelimit-remaining"] = "41";
  if (credential?.value !== "wg_good") throw new GatewayError("INVALID_API_KEY", "Unknown key.");
  return { kind: "key", account_id: 3, instance_id: 7, key_id: 1, scope: "instance", may_manage: true };
};

const completed: CompletedRequest[] = [];
let server: HttpServer;
let url: string;

beforeAll(async () => {
  server = await createHttpServer({
    contract,
    handlers,
    authorise,
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 1_000,
    trustProxy: "127.0.0.1",
    onResponse: (one) => completed.push(one),
  });
  ({ url } = await server.listen("127.0.0.1", 0));
});
beforeEach(() => completed.splice(0));
afterAll(() => server.close());

async function relay(input: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/relay`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer wg_good", ...headers },
    body: JSON.stringify(input),
  });
  const { data } = (await response.json()) as { data: { status: number; text: string; type: string | null } };
  return data;
}

const json = { "content-type": "application/json" };

describe("a request of a handler to another route of its process", () => {
  test("has the caller's credential and address, and passes path, query and body", async () => {
    const sent = { method: "POST", path: "/echo/a%2Fb", headers: json, body: '{"text":"olá"}' };
    const { status, text, type } = await relay(sent, { "x-forwarded-for": "203.0.113.9" });
    expect(status).toBe(200);
    expect(type).toContain("application/json");
    expect(JSON.parse(text).data).toEqual({ name: "a/b", text: "olá", ip: "203.0.113.9" });
    const found = await relay({ path: "/search?q=x%20y" });
    expect(JSON.parse(found.text).data).toEqual({ q: "x y" });
  });

  test("is logged as a request of its own, with its status and the same request id", async () => {
    await relay({ method: "POST", path: "/echo/a" }, { "x-request-id": "one" });
    await expect.poll(() => completed.length).toBe(2);
    expect(completed).toMatchObject([
      { route: "/echo/:name", status: 200, request_id: "one", caller: { kind: "key", instance_id: 7 } },
      { route: "/relay", status: 200, request_id: "one" },
    ]);
  });

  test("cannot replace the credential of the caller", async () => {
    const { status } = await relay({
      method: "POST",
      path: "/echo/a",
      headers: { authorization: "Bearer wg_other" },
    });
    expect(status).toBe(200);
  });

  test.each([
    { sent: { path: "/nothing" }, status: 404, code: "ROUTE_NOT_FOUND" },
    { sent: { path: "/echo/a" }, status: 405, code: "METHOD_NOT_ALLOWED" },
    {
      sent: { method: "POST", path: "/echo/a", headers: json, body: "{" },
      status: 400,
      code: "VALIDATION_ERROR",
    },
    {
      sent: { method: "POST", path: "/echo/a", headers: json, body: JSON.stringify("x".repeat(1_100)) },
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    },
  ])("is refused like one over the network, with $code", async ({ sent, status, code }) => {
    const refused = await relay(sent, { "x-request-id": "refused" });
    expect(refused.status).toBe(status);
    expect(JSON.parse(refused.text)).toMatchObject({ success: false, code, request_id: "refused" });
  });

  test("ends when the caller disconnects", async () => {
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      left = resolve;
    });
    const disconnected = new AbortController();
    const pending = fetch(`${url}/relay`, {
      method: "POST",
      headers: { ...json, authorization: "Bearer wg_good" },
      body: JSON.stringify({ path: "/wait" }),
      signal: disconnected.signal,
    });
    await waiting;
    disconnected.abort();
    await expect(pending).rejects.toThrow();
    await ended;
    await expect.poll(() => completed.map(({ status }) => status)).toEqual([499, 499]);
  });
});
