import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { GatewayError } from "../platform/gateway-error.ts";
import { AcceptedResponse, type Handlers, OkResponse, RawResponse } from "../platform/http/handler.ts";
import { route, type UploadedFile } from "../platform/http/route.ts";
import { createHttpServer, type HttpServer } from "../platform/http/server/http-server.ts";
import { createLog } from "../platform/log/log.ts";
import { type ClientOptions, createClient, createClientOf, WaygateError } from "./client.ts";

const id = z.coerce.number().int();

const contract = {
  sendNote: route({
    http: "POST /notes/:id/send",
    access: "instance",
    tag: "Notes",
    summary: "Send a note",
    idempotent: true,
    input: z.object({ id, text: z.string(), later: z.boolean().default(false) }),
    output: z.object({ id: z.number(), text: z.string(), key: z.string().nullable() }),
    accepted: { output: z.object({ jobId: z.string() }), beside: z.object({ jobId: z.string() }) },
  }),
  listNotes: route({
    http: "GET /notes",
    access: "account",
    tag: "Notes",
    summary: "List notes",
    input: z.object({
      limit: z.coerce.number().default(50),
      tags: z.union([z.string(), z.array(z.string())]).optional(),
    }),
    output: z.array(z.unknown()),
    beside: z.object({ pagination: z.object({ limit: z.number() }) }),
  }),
  attach: route({
    http: "POST /notes/:id/attach",
    access: "instance",
    tag: "Notes",
    summary: "Attach a file",
    upload: "file",
    input: z.object({
      id,
      file: z.custom<UploadedFile>((value) => Object(value).bytes instanceof Uint8Array).optional(),
      tags: z.array(z.string()).optional(),
    }),
    output: z.object({ size: z.number(), name: z.string().optional(), tags: z.array(z.string()).optional() }),
  }),
  dropNote: route({
    http: "DELETE /notes/:name",
    access: "key_or_admin",
    tag: "Notes",
    summary: "Drop a note",
    input: z.object({ name: z.string(), force: z.stringbool().optional() }),
    output: z.object({ name: z.string(), who: z.string() }),
  }),
  scan: route({
    http: "GET /scan",
    access: "owner",
    tag: "Notes",
    summary: "A picture or its address",
    input: z.object({ format: z.enum(["json", "png"]).optional() }),
    output: z.object({ address: z.string() }),
    raw: "image/png",
  }),
  describe: route({
    http: "GET /describe",
    access: "public",
    tag: "Notes",
    summary: "A document",
    input: z.object({}),
    output: z.object({ a: z.number() }),
    bare: true,
  }),
  follow: route({
    http: "GET /follow",
    access: "public",
    tag: "Notes",
    summary: "A stream",
    input: z.object({}),
    output: z.never(),
    raw: "text/event-stream",
    streamed: true,
  }),
  exportNotes: route({
    http: "GET /export",
    access: "public",
    tag: "Notes",
    summary: "A document of any length",
    input: z.object({}),
    output: z.object({ notes: z.array(z.string()) }),
    bare: true,
    streamed: true,
  }),
  health: route({
    http: "GET /health",
    access: "public",
    tag: "Notes",
    summary: "Well?",
    input: z.object({}),
    output: z.object({ ok: z.boolean() }),
    bare: true,
    statuses: [503],
  }),
};

const handlers: Handlers<typeof contract> = {
  async sendNote({ input, idempotencyKey }) {
    if (input.text === "no")
      throw new GatewayError("RATE_LIMITED", "Slow down.", { retryAfterSeconds: 3, details: { a: 1 } });
    if (input.later) return new AcceptedResponse({ jobId: "7" }, { beside: { jobId: "7" } });
    return { id: input.id, text: input.text, key: idempotencyKey ?? null };
  },
  listNotes: async ({ input }) =>
    new OkResponse([input.tags], { beside: { pagination: { limit: input.limit } } }),
  attach: async ({ input: { file, tags } }) => ({
    size: file?.bytes.length ?? 0,
    name: file?.file_name,
    tags,
  }),
  dropNote: async ({ input, caller }) => ({ name: input.name, who: caller.kind }),
  scan: async ({ input }) =>
    input.format === "png" ? new RawResponse("image/png", Buffer.from([1, 2, 3])) : { address: "here" },
  describe: async () => new RawResponse("application/json", '{"a":1}'),
  follow: async () => new RawResponse("text/event-stream", Readable.from(["data: 1\n\n"])),
  exportNotes: async () =>
    new RawResponse("application/json", Readable.from(['{"notes":["a', '","b"]}']), 200, {
      "content-disposition": 'attachment; filename="notes.json"',
    }),
  health: async () => new OkResponse({ ok: false }, { status: 503 }),
};

let server: HttpServer;
let baseUrl = "";
let seen: Record<string, string | undefined>[] = [];

beforeAll(async () => {
  server = await createHttpServer({
    contract,
    handlers,
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 10_000,
    authorise: async ({ access }, { credential }) => {
      seen.push({ ...credential });
      if (access === "public") return { kind: "public" };
      if (!credential) throw new GatewayError("AUTH_REQUIRED", "Who are you?");
      if (credential.kind === "admin") return { kind: "admin" };
      return { kind: "key", account_id: 1, instance_id: 1, key_id: 1, scope: "instance", may_manage: true };
    },
  });
  baseUrl = (await server.listen("127.0.0.1", 0)).url;
});

afterAll(() => server.close());

function clientWith(options: Partial<ClientOptions> = {}) {
  seen = [];
  return createClientOf(contract, { baseUrl, apiKey: "wg_k", ...options });
}

test("the client has a method per route that returns the whole typed body", async () => {
  const response = await clientWith().sendNote({ id: 5, text: "hi" }, { idempotencyKey: "k1" });
  expect(response).toEqual({ success: true, message: "OK", data: { id: 5, text: "hi", key: "k1" } });
  const later = await clientWith().sendNote({ id: 5, text: "hi", later: true });
  expect(later).toEqual({ success: true, message: "OK", jobId: "7", data: { jobId: "7" } });
  expectTypeOf(later.data.text).toEqualTypeOf<string | undefined>();
  if (later.jobId !== undefined) expectTypeOf(later.data.jobId).toEqualTypeOf<string>();
  else expectTypeOf(later.data.text).toEqualTypeOf<string>();
  const list = await clientWith({ token: "jwt" }).listNotes();
  expectTypeOf(list.pagination.limit).toEqualTypeOf<number>();
  expect(list).toEqual({ success: true, message: "OK", data: [null], pagination: { limit: 50 } });
});

test("the client writes query values as text, lists as repeated names, and no absent values", async () => {
  const list = await clientWith({ token: "jwt" }).listNotes({ limit: 3, tags: ["a b", "c&d"] });
  expect(list.data).toEqual([["a b", "c&d"]]);
  expect((await clientWith({ token: "jwt" }).listNotes({ tags: undefined })).data).toEqual([null]);
});

test("the client escapes path fields, and throws before sending if one is missing", async () => {
  const { data } = await clientWith().dropNote({ name: "a/b ?#%é", force: "true" });
  expect(data.name).toBe("a/b ?#%é");
  await expect(clientWith().dropNote({ name: "" })).rejects.toThrow('DELETE /notes/:name needs "name".');
});

test("the client sends only the credential that the route requires", async () => {
  const all = { apiKey: "wg_k", token: "jwt", adminToken: "adm" };
  await clientWith(all).sendNote({ id: 1, text: "x" });
  await clientWith(all).listNotes();
  await clientWith(all).dropNote({ name: "x" });
  const kinds = [];
  for (const options of [
    all,
    { apiKey: undefined, token: "jwt", adminToken: "adm" },
    { apiKey: undefined, token: "jwt" },
  ]) {
    const client = clientWith(options);
    await client.sendNote({ id: 1, text: "x" }).catch(() => undefined);
    await client.listNotes().catch(() => undefined);
    await client.dropNote({ name: "x" }).catch(() => undefined);
    await client.scan().catch(() => undefined);
    kinds.push(seen.map(({ value }) => value));
  }
  expect(kinds).toEqual([
    ["wg_k", "jwt", "wg_k", "jwt"],
    ["jwt", "jwt", "adm", "jwt"],
    ["jwt", "jwt", "jwt", "jwt"],
  ]);
});

test("the client throws an error response with its code, status, details and request id", async () => {
  const request = clientWith().sendNote({ id: 1, text: "no" }, { headers: { "x-request-id": "mine" } });
  const error = await request.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WaygateError);
  expect(error).toMatchObject({
    code: "RATE_LIMITED",
    status: 429,
    message: "Slow down.",
    details: { a: 1 },
    request_id: "mine",
    retryAfterSeconds: 3,
    body: { success: false },
  });
});

test("the client also throws an error response that does not come from the gateway", async () => {
  const page = new Response("<h1>Bad Gateway</h1>", {
    status: 502,
    headers: { "content-type": "text/html" },
  });
  const client = clientWith({ fetch: async () => page });
  await expect(client.listNotes()).rejects.toMatchObject({
    code: "HTTP_502",
    status: 502,
    body: "<h1>Bad Gateway</h1>",
  });
  const wrong = clientWith({
    fetch: async () => new Response("<h1>Hello</h1>", { headers: { "content-type": "text/html" } }),
  });
  await expect(wrong.listNotes()).rejects.toMatchObject({ code: "HTTP_200" });
});

test("the client parses JSON without an envelope, however the handler wrote it", async () => {
  const document = await clientWith().describe();
  expectTypeOf(document).toEqualTypeOf<{ a: number }>();
  expect(document).toEqual({ a: 1 });
});

test("the client returns a JSON document of any length as a stream with its type", async () => {
  const whole = await (await clientWith().exportNotes()).json();
  expectTypeOf(whole).toEqualTypeOf<{ notes: string[] }>();
  expect(whole).toEqual({ notes: ["a", "b"] });
  const { type, stream } = await clientWith().exportNotes();
  expect([type, await new Response(stream).text()]).toEqual(["application/json", '{"notes":["a","b"]}']);
});

test("the client returns a raw response as type and bytes, or the JSON of the same route", async () => {
  const client = clientWith({ token: "jwt" });
  const picture = await client.scan({ format: "png" });
  expect([...(picture.bytes ?? [])]).toEqual([1, 2, 3]);
  const address = await client.scan();
  expect([address.data?.address, address.bytes]).toEqual(["here", undefined]);
});

test("the client uploads a file as a form", async () => {
  const file = {
    bytes: new Uint8Array([1, 2, 0, 255]),
    file_name: "\u00e9.bin",
    mime_type: "application/x-thing",
  };
  const { data } = await clientWith().attach({ id: 4, file, tags: ["a"] });
  expect(data).toEqual({ size: 4, name: "\u00e9.bin", tags: ["a"] });
  expect((await clientWith().attach({ id: 4, tags: ["b"] })).data).toEqual({ size: 0, tags: ["b"] });
});

test("the client returns a stream while it is still running", async () => {
  const { stream } = await clientWith().follow();
  expect(await new Response(stream).text()).toBe("data: 1\n\n");
});

test("the client keeps the declared statuses of a response without an envelope", async () => {
  expect(await clientWith().health()).toEqual({ ok: false });
});

test("the client can abort a request", async () => {
  const signal = AbortSignal.abort();
  await expect(clientWith().sendNote({ id: 1, text: "x" }, { signal })).rejects.toThrow(/abort/i);
});

test("the gateway's client has a method per route, with and without a slash after the address", async () => {
  const client = createClient({ baseUrl: `${baseUrl}/` });
  expect((await client.health()).ok).toBe(false);
  expectTypeOf(client.login).parameter(0).toMatchTypeOf<{ email: string; password: string }>();
  // @ts-expect-error the text is missing
  await expect(clientWith().sendNote({ id: 1 })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});
