import { connect } from "node:net";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createGate } from "../../../../test/gate.ts";
import { GatewayError } from "../../gateway-error.ts";
import { createLog } from "../../log/log.ts";
import { createMetrics } from "../../log/metrics.ts";
import { Secret } from "../../secrets/secret.ts";
import { AcceptedResponse, type Authorise, type Handlers, OkResponse, RawResponse } from "../handler.ts";
import { type Contract, route, type UploadedFile } from "../route.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "./http-server.ts";

const id = z.coerce.number().int().positive();
const pet = z.object({ id: z.number(), name: z.string() });

const contract = {
  getPet: route({
    http: "GET /pets/:id",
    access: "instance",
    tag: "Pets",
    summary: "Get a pet",
    message: "Pet",
    input: z.object({ id, limit: z.coerce.number().int().max(200).optional() }),
    output: pet,
  }),
  namePet: route({
    http: "POST /pets/:id",
    access: "instance",
    tag: "Pets",
    summary: "Name a pet",
    idempotent: true,
    aliases: { name: ["petName", "label.text"], message_id: ["id", "key.id"] },
    input: z.object({
      id,
      name: z.string().max(1000),
      message_id: z.string().optional(),
      extra: z.unknown().optional(),
    }),
    output: z.object({
      id: z.number(),
      name: z.string(),
      message_id: z.string().nullable(),
      extra: z.unknown(),
      key: z.string().nullable(),
    }),
    beside: z.object({ token: z.string() }),
    accepted: {
      output: z.object({ jobId: z.string() }),
      beside: z.object({ queued: z.boolean() }),
      isRequested: ({ name }) => name === "later",
    },
  }),
  removePet: route({
    http: "DELETE /pets/:id",
    access: "instance",
    tag: "Pets",
    summary: "Remove a pet",
    input: z.object({ id, why: z.string().optional() }),
    output: z.object({ id: z.number(), why: z.string().optional() }),
  }),
  portray: route({
    http: "POST /pets/:id/portrait",
    access: "instance",
    tag: "Pets",
    summary: "Take a portrait",
    upload: "file",
    aliases: { caption: ["text"] },
    input: z.object({
      id,
      file: z.custom<UploadedFile>((value) => Object(value).bytes instanceof Uint8Array).optional(),
      caption: z.string().optional(),
      framed: z.boolean().optional(),
      width: z.number().optional(),
      tags: z.array(z.string()).optional(),
    }),
    output: z.record(z.string(), z.unknown()),
  }),
  raisePet: route({
    http: "POST /raise",
    access: "account",
    tag: "Pets",
    summary: "Fail in a chosen way",
    input: z.object({ how: z.string() }),
    output: z.unknown(),
  }),
  open: route({
    http: "POST /open",
    access: "public",
    tag: "Pets",
    summary: "Open to all",
    input: z.object({ text: z.string() }),
    output: z.null(),
  }),
  photo: route({
    http: "GET /photo",
    access: "public",
    tag: "Pets",
    summary: "A picture, a text or a stream",
    input: z.object({ as: z.string().optional() }),
    output: z.never(),
    raw: "image/png",
  }),
  ticks: route({
    http: "GET /ticks",
    access: "public",
    tag: "Pets",
    summary: "A stream without an end",
    input: z.object({}),
    output: z.never(),
    raw: "text/event-stream",
  }),
  status: route({
    http: "GET /status",
    access: "public",
    tag: "Pets",
    summary: "A bare body",
    input: z.object({}),
    output: z.object({ ok: z.boolean(), who: z.string() }),
    bare: true,
    statuses: [503],
  }),
};

type Pets = Handlers<typeof contract>;

const failures: Record<string, () => unknown> = {
  refused: () =>
    new GatewayError("RATE_LIMITED", "Slow down.", { retryAfterSeconds: 1.2, details: { left: 0 } }),
  bug: () => new Error("secret detail of a bug"),
  text: () => "not even an error",
  database: () => Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" }),
  lock: () => Object.assign(new Error("canceling statement due to lock timeout"), { code: "55P03" }),
  disk: () => Object.assign(new Error("could not extend file"), { code: "53100" }),
};

let namings = 0;
const endless = new Readable({ read() {} });

const handlers: Pets = {
  async getPet({ input }) {
    if (input.id === 8) return { id: "eight" } as unknown as { id: number; name: string };
    if (input.id === 9) return new OkResponse({ id: 9, name: "Nine" }, { beside: { undeclared: 1 } });
    return { id: input.id, name: "Rex", password_hash: "never to be seen" };
  },
  async namePet({ input, idempotencyKey }) {
    namings++;
    if (input.name === "later") {
      return new AcceptedResponse(
        { jobId: "j1", inner: "x" },
        { message: "Queued", beside: { queued: true } },
      );
    }
    const data = {
      id: input.id,
      name: input.name,
      message_id: input.message_id ?? null,
      extra: input.extra,
      key: idempotencyKey ?? null,
      owner: "hidden",
    };
    return new OkResponse(data, { message: "Named", beside: { token: "t" }, headers: { "x-extra": "yes" } });
  },
  removePet: async ({ input }) => input,
  portray: async ({ input: { file, ...others } }) => ({
    ...others,
    ...(file && {
      name: file.file_name,
      type: file.mime_type,
      text: Buffer.from(file.bytes).toString("latin1"),
    }),
  }),
  async raisePet({ input }) {
    throw failures[input.how]?.();
  },
  open: async () => null,
  async photo({ input }) {
    if (input.as === "stream") return new RawResponse("text/plain", Readable.from(["one ", "two"]));
    if (input.as === "text")
      return new RawResponse("text/html", "<p>", 202, { "content-security-policy": "none" });
    return new RawResponse("image/png", Buffer.from([0x89, 0x50, 0, 0xff]));
  },
  async ticks() {
    endless.push(": hello\n\n");
    return new RawResponse("text/event-stream", endless);
  },
  async status({ caller, headers }) {
    const who = `${caller.kind} ${Object.keys(headers).includes("admintoken")}`;
    return new OkResponse({ ok: false, who, host: "db-7" }, { status: 503 });
  },
};

const authorise: Authorise = async (asked, { credential, instanceId, responseHeaders }) => {
  if (asked.access === "public") return { kind: "public" };
  responseHeaders["x-ratelimit-remaining"] = "41";
  if (!credential) throw new GatewayError("AUTH_REQUIRED", "Send an API key.");
  if (credential.value === "wg_away") throw failures.database?.();
  if (credential.kind === "admin") {
    if (asked.access === "admin" && credential.value === "the-admin-token") return { kind: "admin" };
    throw new GatewayError("INVALID_TOKEN", "The administrative token is wrong.");
  }
  if (!["wg_good", "jwt"].includes(credential.value))
    throw new GatewayError("INVALID_API_KEY", "Unknown key.");
  if (asked.access === "instance" && (instanceId ?? 0) > 10) throw forbidden();
  if (asked.access === "instance" && instanceId === 0) throw forbidden();
  return { kind: "key", account_id: 3, instance_id: 7, key_id: 1, scope: "instance", may_manage: true };
};

function forbidden(): GatewayError {
  return new GatewayError("INSTANCE_FORBIDDEN", "This key does not open this instance.");
}

const lines: Record<string, unknown>[] = [];
const log = createLog("info", { write: (line: string) => void lines.push(JSON.parse(line)) });
const metrics = createMetrics(new Secret("metrics-token"));
let server: HttpServer;
let url = "";

const serve = (options: Partial<HttpServerOptions<typeof contract>> = {}) =>
  createHttpServer({
    contract,
    handlers,
    authorise,
    log,
    strictOutput: true,
    bodyLimitBytes: 1000,
    ...options,
  });

beforeAll(async () => {
  server = await serve({ metrics, bodyLimitBytes: 100_000, uploadLimitBytes: 300_000 });
  ({ url } = await server.listen("127.0.0.1", 0));
});

afterAll(async () => {
  await server.close();
});

const KEY = { "x-api-key": "wg_good" };

async function request(path: string, options: RequestInit = {}) {
  const response = await fetch(`${url}${path}`, options);
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: type.includes("json") ? JSON.parse(text || "{}") : {},
  };
}

function post(path: string, body: unknown, headers: Record<string, string> = KEY) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return request(path, {
    method: "POST",
    body: text,
    headers: { "content-type": "application/json", ...headers },
  });
}

function onSocket(bytes: string, to = url): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(to).port), "127.0.0.1", () => socket.write(bytes));
    let response = "";
    socket.on("data", (chunk) => {
      response += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(response));
  });
}

describe("HTTP responses", () => {
  test("contain data in the envelope, and no field that the contract does not name", async () => {
    const { status, body } = await request("/pets/7", { headers: KEY });
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, message: "Pet", data: { id: 7, name: "Rex" } });
  });

  test("may set the message, fields beside data, and headers", async () => {
    const { body, headers } = await post("/pets/7", { name: "Bia" });
    expect(body).toEqual({
      success: true,
      message: "Named",
      token: "t",
      data: { id: 7, name: "Bia", message_id: null, key: null },
    });
    expect(headers.get("x-extra")).toBe("yes");
  });

  test("are a 202 with its own shape when the work is accepted for later", async () => {
    const { status, body } = await post("/pets/7", { name: "later" });
    expect(status).toBe(202);
    expect(body).toEqual({ success: true, message: "Queued", queued: true, data: { jobId: "j1" } });
  });

  test("that violate the contract become INTERNAL: logged completely, shown without detail", async () => {
    const { status, body } = await request("/pets/8", { headers: KEY });
    expect(status).toBe(500);
    expect(body).toMatchObject({
      success: false,
      code: "INTERNAL",
      message: "The gateway failed to handle this request. Its log has the error under the request_id.",
    });
    expect(body.details).toBeUndefined();
    const line = lines.find(({ level, request_id }) => level === "error" && request_id === body.request_id);
    expect(JSON.stringify(line)).toContain("does not match its contract");
  });

  test("with undeclared fields fail when the output is strict, and lose the fields otherwise", async () => {
    expect((await request("/pets/9", { headers: KEY })).status).toBe(500);
    const lax = await serve({ strictOutput: false });
    const response = await lax.inject({ url: "/pets/9", headers: KEY });
    expect(response.json()).toEqual({ success: true, message: "Pet", data: { id: 9, name: "Nine" } });
    await lax.close();
  });

  test("of raw routes are sent unchanged: bytes, text or stream", async () => {
    const bytes = await fetch(`${url}/photo`);
    expect(bytes.headers.get("content-type")).toBe("image/png");
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0x89, 0x50, 0, 0xff]);
    const page = await request("/photo?as=text");
    expect([page.status, page.text, page.headers.get("content-security-policy")]).toEqual([
      202,
      "<p>",
      "none",
    ]);
    const stream = await request("/photo?as=stream");
    expect([stream.text, stream.headers.get("x-content-type-options")]).toEqual(["one two", "nosniff"]);
  });

  test("of bare routes have no envelope and may set another status, with named fields only", async () => {
    const { status, body } = await request("/status");
    expect(status).toBe(503);
    expect(body).toEqual({ ok: false, who: "public false" });
  });

  test("to HEAD equal those to GET without the body", async () => {
    const { status, text } = await request("/pets/7", { method: "HEAD", headers: KEY });
    expect([status, text]).toEqual([200, ""]);
  });
});

describe("request input", () => {
  test("from path, body and query is one flat object, in which the path takes precedence", async () => {
    const named = await post("/pets/7", { id: "3EB0", name: "Body" });
    expect(named.body.data).toMatchObject({ id: 7, name: "Body" });
    const removed = await request("/pets/7?why=old", { method: "DELETE", headers: KEY });
    expect(removed.body.data).toEqual({ id: 7, why: "old" });
    const body = JSON.stringify({ why: "said so", id: 5 });
    const headers = { ...KEY, "content-type": "application/json" };
    const described = await request("/pets/7?why=old", { method: "DELETE", headers, body });
    expect(described.body.data).toEqual({ id: 7, why: "said so" });
  });

  test("at an address with doubled slashes is that of the route, except where a proxy may refuse the path", async () => {
    for (const path of ["//pets/7", "////pets/7/"])
      expect((await post(path, { name: "A" })).body.data).toMatchObject({ id: 7, name: "A" });
    const removed = await request("////pets/7/?why=//", { method: "DELETE", headers: KEY });
    expect(removed.body.data).toEqual({ id: 7, why: "//" });
    expect((await request("//pets/7", { method: "PUT", headers: KEY })).status).toBe(405);
    for (const path of ["/pets//7", "//metrics", "//internal/x", "///api/admin/logs"])
      expect((await post(path, { name: "A" })).body).toMatchObject({
        code: "ROUTE_NOT_FOUND",
        message: "There is no such route. /docs lists every route.",
      });
  });

  test.each([
    [{ petName: "A" }, { name: "A" }],
    [{ label: { text: "B" } }, { name: "B" }],
    [{ name: "canonical", petName: "alias" }, { name: "canonical" }],
    [{ name: null, petName: "alias" }, { name: "alias" }],
    [
      { name: "x", id: "3EB0" },
      { id: 7, message_id: "3EB0" },
    ],
    [{ name: "x", key: { id: "3EB1" } }, { message_id: "3EB1" }],
  ])("accepts the aliases of %j", async (input, expected) => {
    expect((await post("/pets/7", input)).body.data).toMatchObject(expected);
  });

  test("without a body is an empty object", async () => {
    for (const headers of [
      KEY,
      { ...KEY, "content-type": "application/json" },
      { ...KEY, "content-type": "text/plain" },
    ]) {
      const { status, body } = await request("/pets/7", { method: "POST", headers });
      expect(status).toBe(400);
      expect(body.details).toEqual({
        fields: [{ field: "name", code: "missing", params: {}, issue: "is required" }],
      });
    }
  });

  test("loses U+0000 and lone surrogates in every text and key", async () => {
    const { body } = await post("/pets/7", '{"name":"a\\u0000b\\ud800","extra":{"k\\u0000":["\\udc00"]}}');
    expect(body.data).toMatchObject({ name: "ab\ufffd", extra: { k: ["\ufffd"] } });
  });

  test("with a wrong field is refused with details and a sentence for users", async () => {
    const { status, body } = await post("/pets/7", { name: [5] });
    expect(status).toBe(400);
    const issue = "must be text";
    expect(body).toMatchObject({
      code: "VALIDATION_ERROR",
      message: `name: ${issue}`,
      error: `name: ${issue}`,
    });
    expect(body.details.fields).toEqual([
      { field: "name", code: "wrong_type", params: { expected: "text" }, issue },
    ]);
  });

  test.each([
    ["broken JSON", '{"name":', 400, "VALIDATION_ERROR"],
    ["one byte", "x", 400, "VALIDATION_ERROR"],
    ["a list", "[]", 400, "VALIDATION_ERROR"],
    ["a text", '"x"', 400, "VALIDATION_ERROR"],
    ["null", "null", 400, "VALIDATION_ERROR"],
    ["absurd depth", `${'{"extra":'.repeat(5000)}1${"}".repeat(5000)}`, 400, "VALIDATION_ERROR"],
    ["absurd depth, unclosed", "[".repeat(90_000), 400, "VALIDATION_ERROR"],
    ["infinite number", '{"name":1e400}', 400, "VALIDATION_ERROR"],
    ["too much", JSON.stringify({ name: "x".repeat(100_001) }), 413, "PAYLOAD_TOO_LARGE"],
  ])("is refused for %s", async (_what, text, status, code) => {
    const response = await post("/pets/7", text);
    expect(response.body).toMatchObject({ success: false, code });
    expect(response.status).toBe(status);
  });

  test("may be larger on a route for files, and is limited further on a public route", async () => {
    const caption = "x".repeat(200_000);
    expect((await post("/pets/7/portrait", { caption })).status).toBe(200);
    expect((await post("/pets/7/portrait", { caption: caption + caption })).status).toBe(413);
    expect((await post("/open", { text: "x".repeat(70_000) }, {})).status).toBe(413);
    expect((await post("/open", { text: "x".repeat(60_000) }, {})).status).toBe(200);
  });

  test("is safe with duplicate keys, __proto__ and a byte order mark", async () => {
    const twice = await post("/pets/7", '\ufeff{"name":"one","name":"two","__proto__":{"name":"x"}}');
    expect(twice.body.data.name).toBe("two");
    const proto = await post(
      "/pets/7",
      '{"__proto__":{"name":"polluted"},"constructor":{"prototype":{"name":"p"}}}',
    );
    expect(proto.status).toBe(400);
    expect(({} as Record<string, unknown>).name).toBeUndefined();
  });

  test("is refused when its bytes are not UTF-8", async () => {
    const body = Buffer.from([0x7b, 0x22, 0x6e, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    const headers = { ...KEY, "content-type": "application/json" };
    expect((await request("/pets/7", { method: "POST", headers, body })).body.code).toBe("VALIDATION_ERROR");
  });

  test.each([
    [{ "content-type": "text/plain" }],
    [{ "content-type": "application/x-www-form-urlencoded" }],
    [{ "content-type": "application/json; charset=utf-16" }],
    [{ "content-type": "nonsense" }],
    [{ "content-type": "application/json", "content-encoding": "gzip" }],
  ])("is refused in a body sent with %j", async (headers) => {
    const { status, body } = await post("/pets/7", { name: "x" }, { ...KEY, ...headers });
    expect([status, body.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    expect(body.message).toMatch(/Content-Type: application\/json .* Content-Encoding/);
  });

  test("may be a form on a route for files; its texts are converted to the field types", async () => {
    const form = new FormData();
    form.append("file", new Blob(["\x89PNG"], { type: "image/png" }), "rex.png");
    form.append("text", "true");
    form.append("framed", "true");
    form.append("width", "12.5");
    form.append("tags", '["a","b"]');
    form.append("id", "9");
    form.append("__proto__", "x");
    const { status, body } = await request("/pets/7/portrait", { method: "POST", headers: KEY, body: form });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: 7, caption: "true", framed: true, width: 12.5, tags: ["a", "b"] });
    expect(body.data).toMatchObject({ name: "rex.png", type: "image/png", text: "\u00c2\u0089PNG" });
    expect((await post("/pets/7/portrait", { framed: true })).body.data).toEqual({ id: 7, framed: true });
  });

  test("is refused as a form on other routes, or when it is broken, wrong or has two files", async () => {
    const file = new Blob(["x"]);
    const form = new FormData();
    form.append("file", file, "a");
    const unwanted = await request("/pets/7", { method: "POST", headers: KEY, body: form });
    expect([unwanted.status, unwanted.body.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    form.append("other", file, "b");
    const twice = await request("/pets/7/portrait", { method: "POST", headers: KEY, body: form });
    expect(twice.body).toMatchObject({
      code: "VALIDATION_ERROR",
      message: "The body contains more than one file. Send one file per request.",
    });
    for (const type of ["multipart/form-data; boundary=x", "multipart/form-data"]) {
      const broken = await post("/pets/7/portrait", "nothing of the kind", { ...KEY, "content-type": type });
      expect([broken.status, broken.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    }
    const wrong = new FormData();
    wrong.append("width", "wide");
    wrong.append("tags", "[");
    const { body } = await request("/pets/7/portrait", { method: "POST", headers: KEY, body: wrong });
    expect(body.details.fields.map(({ field }: { field: string }) => field)).toEqual(["width", "tags"]);
  });

  test.each([
    ["abc", "abc"],
    ['"abc"', "abc"],
    ["x".repeat(255), "x".repeat(255)],
  ])("has the same Idempotency-Key with and without quotes", async (input, key) => {
    const { body } = await post("/pets/7", { name: "x" }, { ...KEY, "idempotency-key": input });
    expect(body.data.key).toBe(key);
  });

  test.each(["", "two words", "x".repeat(256), "\u00e9", '""'.padEnd(300, "x")])(
    "is refused with a malformed Idempotency-Key: %j",
    async (input) => {
      const before = namings;
      const response = await post("/pets/7", { name: "x" }, { ...KEY, "idempotency-key": input });
      expect([response.status, response.body.details.fields[0].field]).toEqual([400, "Idempotency-Key"]);
      expect(namings).toBe(before);
      expect((await request("/pets/7", { headers: { ...KEY, "idempotency-key": input } })).status).toBe(200);
    },
  );
});

describe("credentials", () => {
  test.each([
    [{ "x-api-key": "wg_good" }],
    [{ token: "wg_good" }],
    [{ apikey: "wg_good" }],
    [{ authorization: "Bearer wg_good" }],
    [{ authorization: "bearer wg_good", token: "wg_good" }],
    [{ "x-auth-token": "jwt" }],
    [{ authorization: "Bearer jwt" }],
  ])("are read from %j", async (headers) => {
    expect((await request("/pets/7", { headers })).status).toBe(200);
  });

  test("are refused when one request has two different ones", async () => {
    const headers = { "x-api-key": "wg_good", authorization: "Bearer jwt" };
    const { status, body } = await request("/pets/7", { headers });
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    const twice = await onSocket(
      "GET /pets/7 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer wg_good\r\nauthorization: Bearer jwt\r\nconnection: close\r\n\r\n",
    );
    expect(twice).toContain("HTTP/1.1 400");
  });

  test.each(["token=x", "apikey=x", "API_KEY=x", "access_token=x", "admintoken=x", `q=wg_${"a".repeat(43)}`])(
    "in the query string are refused: %s",
    async (query) => {
      const { status, text } = await request(`/pets/7?${query}`, { headers: KEY });
      expect(status).toBe(400);
      expect(text).not.toContain("a".repeat(43));
    },
  );

  test("are checked before everything else, so that an unauthenticated client learns nothing", async () => {
    for (const body of ["{", JSON.stringify({ name: 5 }), "x".repeat(200_000)]) {
      const { status, body: error } = await post("/pets/7", body, {});
      expect([status, error.code]).toEqual([401, "AUTH_REQUIRED"]);
    }
    const plain = await post("/pets/7", "x", { "content-type": "text/plain", "x-api-key": "wg_bad" });
    expect(plain.body.code).toBe("INVALID_API_KEY");
  });

  test("are checked alike for an id that is no number and for an instance of another tenant", async () => {
    const responses = [];
    for (const path of [
      "/pets/99",
      "/pets/abc",
      "/pets/1.5",
      "/pets/0",
      "/pets/-1",
      "/pets/1e1",
      "/pets/%00",
      `/pets/${"9".repeat(40)}`,
    ]) {
      const { status, body } = await request(path, { headers: { ...KEY, "x-request-id": "same" } });
      responses.push({ status, body });
    }
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]?.body.code).toBe("INSTANCE_FORBIDDEN");
  });

  test("of the operator are recognised on a public route, and a wrong token is ignored there", async () => {
    const known = await request("/status", { headers: { admintoken: "the-admin-token" } });
    expect(known.body.who).toBe("admin false");
    expect((await request("/status", { headers: { admintoken: "guess" } })).body.who).toBe("public false");
    expect((await request("/status", { headers: KEY })).body.who).toBe("public false");
  });

  test("are checked with the peer's address, or with the one that a trusted proxy reports", async () => {
    const seen: string[] = [];
    for (const trustProxy of [false, "127.0.0.1"]) {
      const one = await serve({
        trustProxy,
        authorise: async (route, asked) => {
          seen.push(asked.ip);
          return authorise(route, asked);
        },
      });
      await one.inject({ url: "/pets/7", headers: { ...KEY, "x-forwarded-for": "203.0.113.9" } });
      await one.close();
    }
    expect(seen).toEqual(["127.0.0.1", "203.0.113.9"]);
  });

  test("may add headers to any response through their access check", async () => {
    expect((await request("/pets/7", { headers: KEY })).headers.get("x-ratelimit-remaining")).toBe("41");
    expect((await request("/pets/7")).headers.get("x-ratelimit-remaining")).toBe("41");
  });
});

describe("error responses", () => {
  test("have the envelope with code, details, request id and Retry-After", async () => {
    const { status, body, headers } = await post("/raise", { how: "refused" });
    expect(status).toBe(429);
    expect(headers.get("retry-after")).toBe("2");
    expect(body).toEqual({
      success: false,
      code: "RATE_LIMITED",
      message: "Slow down.",
      error: "Slow down.",
      details: { left: 0 },
      request_id: headers.get("x-request-id"),
    });
  });

  test("are problem+json for clients that request it", async () => {
    const { body, headers } = await post(
      "/raise",
      { how: "refused" },
      { ...KEY, accept: "application/problem+json" },
    );
    expect(headers.get("content-type")).toContain("application/problem+json");
    expect(body).toEqual({
      type: "about:blank",
      title: "Too Many Requests",
      status: 429,
      detail: "Slow down.",
      code: "RATE_LIMITED",
      details: { left: 0 },
      request_id: headers.get("x-request-id"),
    });
  });

  test.each([
    ["bug", 500, "INTERNAL"],
    ["text", 500, "INTERNAL"],
    ["unheard of", 500, "INTERNAL"],
    ["database", 503, "UNAVAILABLE"],
    ["lock", 503, "UNAVAILABLE"],
    ["disk", 507, "STORAGE_FULL"],
  ])("of the kind %s show no detail", async (how, status, code) => {
    const response = await post("/raise", { how });
    expect([response.status, response.body.code]).toEqual([status, code]);
    expect(response.text).not.toMatch(/secret|ECONN|extend|timeout|stack/);
  });

  test("for an unavailable database before authentication use the format of the body", async () => {
    const away = { "x-api-key": "wg_away" };
    const codes = [];
    for (const body of [{ name: "later" }, { name: "now" }, { name: 5 }]) {
      const response = await post("/pets/7", body, away);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
      codes.push(response.body.code);
    }
    expect(codes).toEqual(["QUEUE_UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE"]);
    expect((await request("/pets/7", { headers: away })).body.code).toBe("UNAVAILABLE");
  });

  test("are 404 for an unknown route and 405 with Allow for a wrong method, with no credential", async () => {
    const unknown = await post("/nowhere", "{", {});
    expect([unknown.status, unknown.body.code]).toEqual([404, "ROUTE_NOT_FOUND"]);
    const wrong = await request("/pets/7/", { method: "PUT", body: "{" });
    expect([wrong.status, wrong.body.code, wrong.headers.get("allow")]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      "GET, POST, DELETE, HEAD",
    ]);
    expect((await request("/raise", { method: "OPTIONS" })).status).toBe(405);
    const trace = await onSocket(
      "TRACE /raise HTTP/1.1\r\nhost: x\r\nx-api-key: wg_good\r\nconnection: close\r\n\r\n",
    );
    expect(trace).toMatch(/^HTTP\/1.1 405 /);
    expect(trace).not.toContain("wg_good");
  });

  test("have the envelope for an address that is no URL and for a part that is too long", async () => {
    const broken = await request("/pets/%zz", { headers: KEY });
    expect([broken.status, broken.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(broken.headers.get("x-request-id")).toBe(broken.body.request_id);
    const long = await request(`/pets/${"9".repeat(2000)}`, { headers: KEY });
    expect([long.status, long.body.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  test("have the envelope for a request that is no HTTP, or has too many headers", async () => {
    const noise = await onSocket("hello there\r\n\r\n");
    expect(noise).toMatch(/^HTTP\/1.1 400 Bad Request/);
    expect(noise).toContain('"code":"VALIDATION_ERROR"');
    const fat = await onSocket(`GET /status HTTP/1.1\r\nhost: x\r\nx-fat: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(fat).toMatch(/^HTTP\/1.1 431 /);
  });

  test("are 408 for a body that does not arrive in time", async () => {
    const head =
      "POST /pets/7 HTTP/1.1\r\nhost: x\r\nx-api-key: wg_good\r\ncontent-type: application/json\r\n";
    const hasty = await serve({ requestTimeoutMs: 500 });
    const at = await hasty.listen("127.0.0.1", 0);
    const slow = await onSocket(`${head}content-length: 50\r\n\r\n{"na`, at.url);
    await hasty.close();
    expect(slow).toMatch(/^HTTP\/1.1 408 /);
    expect(slow).toContain('"code":"REQUEST_TIMEOUT"');
  });
});

describe("every request", () => {
  test("has an id: the client's own when it is well formed, else a new one", async () => {
    expect(
      (await request("/status", { headers: { "x-request-id": "my-id_1" } })).headers.get("x-request-id"),
    ).toBe("my-id_1");
    for (const input of ["two words", "x".repeat(129), "<script>"]) {
      const { headers } = await request("/status", { headers: { "x-request-id": input } });
      expect(headers.get("x-request-id")).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
    }
  });

  test("gets the security headers and no permission for other origins, also with an error", async () => {
    const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for (const path of ["/status", "/pets/7", "/nothing", "/%zz"]) {
      const { headers } = await request(path, { headers: { origin: "https://evil.example" } });
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("content-security-policy")).toBe(policy);
      expect(headers.get("cache-control")).toBe("no-store");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    const refusedBeforeParsing = await onSocket("hello there\r\n\r\n");
    expect(refusedBeforeParsing).toContain(`\r\ncontent-security-policy: ${policy}\r\n`);
    expect(refusedBeforeParsing).toContain("\r\nx-content-type-options: nosniff\r\n");
  });

  test("is served over https only, including errors, once the gateway's URL is https", async () => {
    const secure = await serve({ isHttps: true });
    for (const path of ["/status", "/pets/7", "/nothing", "/%zz"]) {
      const { headers } = await secure.inject({ method: "GET", url: path });
      expect(headers["strict-transport-security"]).toBe("max-age=31536000; includeSubDomains");
      expect((await request(path)).headers.get("strict-transport-security")).toBe(null);
    }
    await secure.close();
  });

  test("with two Host headers is refused, whichever of them is right", async () => {
    for (const path of ["/status", "/metrics", "/nothing"]) {
      const head = `GET ${path} HTTP/1.1\r\nhost: gateway\r\nhost: gateway\r\nconnection: close\r\n\r\n`;
      const response = await onSocket(head);
      expect(response).toMatch(/^HTTP\/1.1 400 /);
      expect(response).toContain("several Host headers");
    }
  });

  test("with two lengths, or a length beside chunks, is refused: a proxy may have found another end", async () => {
    const head =
      "POST /pets/7 HTTP/1.1\r\nhost: x\r\nx-api-key: wg_good\r\ncontent-type: application/json\r\n";
    const ends = [
      "content-length: 2\r\ncontent-length: 5\r\n\r\n{}abc",
      "content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      "transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      "transfer-encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ];
    for (const end of ends) expect(await onSocket(head + end)).toMatch(/^HTTP\/1.1 400 /);
  });

  test("writes one log line with the pattern of the route and without body or query", async () => {
    const headers = { ...KEY, "x-request-id": "logged", "content-type": "application/json" };
    const body = JSON.stringify({ why: "marker-in-body" });
    await request("/pets/7?why=555190817", { method: "DELETE", headers, body });
    await expect.poll(() => lines.filter(({ request_id }) => request_id === "logged")).toHaveLength(1);
    const line = lines.find(({ request_id }) => request_id === "logged");
    expect(line).toMatchObject({
      level: "info",
      method: "DELETE",
      route: "/pets/:id",
      status: 200,
      account_id: 3,
      ip: "127.0.0.0",
    });
    expect(line?.duration_ms).toEqual(expect.any(Number));
    expect(JSON.stringify(lines)).not.toMatch(/marker-in-body|555190817|wg_good/);
  });

  test("logs a warning with its network for a refused credential, and none for a valid one", async () => {
    // Its own server, because the other tests exhaust the limit of these warnings.
    const one = await serve({ trustProxy: "127.0.0.1" });
    const { url: to } = await one.listen("127.0.0.1", 0);
    const knock = (key: string, id: string) =>
      fetch(`${to}/pets/7`, {
        headers: { "x-api-key": key, "x-request-id": id, "x-forwarded-for": "203.0.113.9" },
      });
    expect((await knock("wg_bad", "refused")).status).toBe(401);
    expect((await knock("wg_good", "admitted")).status).toBe(200);
    await one.close();
    const warnings = lines.filter(({ level }) => level === "warn");
    expect(warnings.find(({ request_id }) => request_id === "refused")).toMatchObject({
      ip: "203.0.113.0",
      route: "/pets/:id",
      status: 401,
      code: "INVALID_API_KEY",
    });
    expect(warnings.some(({ request_id }) => request_id === "admitted")).toBe(false);
    expect(lines.some(({ request_id }) => request_id === "admitted")).toBe(true);
    expect(JSON.stringify(lines)).not.toContain("203.0.113.9");
  });

  test("is counted in the metrics, which only the metrics token opens", async () => {
    expect((await request("/metrics")).status).toBe(401);
    expect((await request("/metrics", { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    const { status, text } = await request("/metrics", {
      headers: { authorization: "Bearer metrics-token" },
    });
    expect(status).toBe(200);
    expect(text).toMatch(
      /waygate_http_request_seconds_count\{method="GET",route="\/pets\/:id",status="200"\} \d+/,
    );
    expect(text).not.toContain("/pets/7");
    const closed = await serve({ metrics: createMetrics() });
    expect((await closed.inject("/metrics")).json().code).toBe("ROUTE_NOT_FOUND");
    await closed.close();
  });
});

describe("a server that shuts down", () => {
  test("ends open streams, finishes requests in progress and then accepts no more", async () => {
    const finish = createGate();
    let caller: AbortSignal | undefined;
    const slow: Pets = {
      ...handlers,
      async getPet({ signal }) {
        caller = signal;
        await finish.opened;
        return { id: 1, name: "Slow" };
      },
    };
    const closing = await serve({ handlers: slow });
    expect(closing.readiness.ready).toBe(false);
    const at = await closing.listen("127.0.0.1", 0);
    const stream = await fetch(`${at.url}/ticks`);
    const pending = fetch(`${at.url}/pets/1`, { headers: KEY });
    await expect.poll(() => caller?.aborted).toBe(false);
    const closed = closing.close();
    await stream.text().catch(() => undefined);
    finish.open();
    const response = await pending;
    expect([response.status, response.headers.get("connection")]).toEqual([200, "close"]);
    await closed;
    await expect(fetch(`${at.url}/status`)).rejects.toThrow();
  });

  test("informs the handler when a client has disconnected", async () => {
    const gone = createGate();
    const started = createGate();
    const patient: Pets = {
      ...handlers,
      async getPet({ signal }) {
        signal.addEventListener("abort", gone.open);
        started.open();
        await gone.opened;
        return { id: 1, name: "Late" };
      },
    };
    const one = await serve({ handlers: patient });
    const at = await one.listen("127.0.0.1", 0);
    const caller = new AbortController();
    const pending = fetch(`${at.url}/pets/1`, { headers: KEY, signal: caller.signal });
    await started.opened;
    caller.abort();
    await expect(pending).rejects.toThrow();
    await gone.opened;
    await one.close();
  });
});

test("a route without a handler does not compile", () => {
  const { getPet, ...others } = handlers;
  // @ts-expect-error getPet is missing
  const incomplete: Pets = others;
  // @ts-expect-error a handler of another shape
  const wrong: Pets = { ...handlers, getPet: async () => ({ id: "seven" }) };
  // @ts-expect-error a property that no route has
  route({ ...contract.getPet, acess: "public" });
  const typed: Contract = contract;
  expect([getPet, incomplete, wrong, typed].length).toBe(4);
});
