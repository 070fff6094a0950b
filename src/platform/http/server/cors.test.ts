import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { GatewayError } from "../../gateway-error.ts";
import { createLog } from "../../log/log.ts";
import { route } from "../route.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";

const APP = "https://app.example.com";
const LOCAL = "http://localhost:5173";

const contract = {
  read: route({
    http: "GET /things/:id",
    access: "account",
    tag: "Test",
    summary: "Read",
    input: z.object({ id: z.string() }),
    output: z.unknown(),
  }),
  save: route({
    http: "PUT /things/:id",
    access: "account",
    tag: "Test",
    summary: "Save",
    input: z.object({ id: z.string() }),
    output: z.unknown(),
  }),
};

const start = (corsOrigins?: string[]) =>
  createHttpServer({
    contract,
    handlers: { read: async () => ({}), save: async () => ({}) },
    authorise: async () => {
      throw new GatewayError("AUTH_REQUIRED", "Sign in.");
    },
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 1000,
    ...(corsOrigins && { corsOrigins }),
  });

let open: HttpServer;
let closed: HttpServer;
beforeAll(async () => {
  [open, closed] = await Promise.all([start([APP, LOCAL]), start()]);
});
afterAll(() => Promise.all([open.close(), closed.close()]));

const ask = (
  server: HttpServer,
  method: "GET" | "OPTIONS",
  headers: Record<string, string>,
  url = "/things/7",
) => server.inject({ method, url, headers });
const corsHeaders = (headers: object) =>
  Object.keys(headers).filter((name) => name.startsWith("access-control-"));
const preflight = (origin: string) => ({
  origin,
  "access-control-request-method": "PUT",
  "access-control-request-headers": "x-api-key",
});

test.each([APP, LOCAL])("a page of %s may call the gateway, and reads also its refusals", async (origin) => {
  const { statusCode, headers } = await ask(open, "GET", { origin });
  expect(statusCode).toBe(401);
  expect(headers).toMatchObject({ "access-control-allow-origin": origin, vary: "origin" });
  expect(headers["access-control-expose-headers"]).toContain("retry-after");
  expect(headers).not.toHaveProperty("access-control-allow-credentials");
});

test("a page may ask for a part of a file, and be a client of the assistant tools", async () => {
  const { headers } = await ask(open, "OPTIONS", preflight(LOCAL));
  const names = (list: unknown) => String(list).split(", ");
  const sent = ["if-range", "mcp-method", "mcp-protocol-version", "mcp-session-id", "range"];
  expect(names(headers["access-control-allow-headers"])).toEqual(expect.arrayContaining(sent));
  const read = ["accept-ranges", "content-range", "mcp-session-id"];
  expect(names(headers["access-control-expose-headers"])).toEqual(expect.arrayContaining(read));
});

test("a preflight request names the methods of the route, and neither the panel's header nor a cookie", async () => {
  const { statusCode, headers, body } = await ask(open, "OPTIONS", preflight(APP));
  expect([statusCode, body]).toEqual([204, ""]);
  expect(headers["access-control-allow-methods"]).toBe("GET, PUT, HEAD");
  expect(headers["access-control-allow-headers"]).toContain("x-api-key");
  expect(String(headers["access-control-allow-headers"])).not.toMatch(/panel|cookie|admintoken/);
  expect(headers["x-request-id"]).toBeDefined();
});

test.each([
  "https://app.example.com:8443",
  "http://app.example.com",
  "https://app.example.com.evil.test",
  "https://APP.example.com",
  "null",
  "*",
])("a page of %s gets no permission, and its preflight request is refused", async (origin) => {
  expect(corsHeaders((await ask(open, "GET", { origin })).headers)).toEqual([]);
  const { statusCode, headers } = await ask(open, "OPTIONS", preflight(origin));
  expect([statusCode, corsHeaders(headers)]).toEqual([405, []]);
  expect(headers.vary).toBe("origin");
});

test("without the setting no page gets a permission, and a plain OPTIONS request is refused", async () => {
  expect(corsHeaders((await ask(closed, "GET", { origin: APP })).headers)).toEqual([]);
  expect((await ask(closed, "OPTIONS", preflight(APP))).statusCode).toBe(405);
  expect((await ask(open, "OPTIONS", { origin: APP })).statusCode).toBe(405);
});
