import { describe, expect, test } from "vitest";
import {
  buildRequest,
  type RequestInput,
} from "../../packages/n8n-nodes-waygate/nodes/Waygate/build-request.ts";
import { idempotencyKey } from "../../packages/n8n-nodes-waygate/nodes/Waygate/idempotency-key.ts";
import type { Operation } from "../../packages/n8n-nodes-waygate/nodes/Waygate/operation.ts";

const SEND: Operation = {
  http: "POST /api/v1/instances/:id/send",
  upload: "file",
  fields: [
    { name: "text", kind: "text" },
    { name: "delay", kind: "number" },
    { name: "async", kind: "boolean" },
    { name: "mentions", kind: "list" },
    { name: "metadata", kind: "json" },
    { name: "contact_name", path: "contact.name", kind: "text" },
    { name: "contact_phone", path: "contact.phone", kind: "text" },
    { name: "reaction", kind: "text", mayBeEmpty: true },
  ],
};
const LIST: Operation = {
  http: "GET /api/v1/instances/:id/chats/:jid/messages",
  fields: [
    { name: "jid", kind: "text" },
    { name: "from", kind: "text" },
    { name: "archived", kind: "boolean" },
  ],
};

function build(operation: Operation, values: Record<string, unknown>, more: Partial<RequestInput> = {}) {
  return buildRequest(operation, { instanceId: "7", read: ({ name }) => values[name], ...more });
}

function bodyOf(values: Record<string, unknown>): unknown {
  return JSON.parse(String(build(SEND, values).body));
}

describe("a request of the n8n node", () => {
  test("has its address, and its fields as JSON", () => {
    expect(build(SEND, { text: "olá", contact_name: "Bia", contact_phone: "5511977771234" })).toEqual({
      method: "POST",
      path: "/api/v1/instances/7/send",
      headers: { "content-type": "application/json" },
      body: '{"text":"olá","contact":{"name":"Bia","phone":"5511977771234"}}',
    });
  });

  test.each([
    ["a number for a text", { text: 42 }, { text: "42" }],
    ["a text for a number", { delay: "500" }, { delay: 500 }],
    ["a text for a switch", { async: "true" }, { async: true }],
    ["a list as a text", { mentions: "5511, 5512\n5513,," }, { mentions: ["5511", "5512", "5513"] }],
    ["a list of an expression", { mentions: [5511, ""] }, { mentions: [5511] }],
    ["JSON as a text", { metadata: '{"a":1}' }, { metadata: { a: 1 } }],
    ["an object of an expression", { metadata: { a: 1 } }, { metadata: { a: 1 } }],
    [
      "a time of an expression",
      { text: { toJSON: () => "2026-01-31T12:00:00Z" } },
      { text: "2026-01-31T12:00:00Z" },
    ],
  ])("accepts %s", (_, values, fields) => {
    expect(bodyOf(values)).toEqual(fields);
  });

  test("leaves out what is empty, except a text whose emptiness has a meaning", () => {
    const values = { text: "", delay: null, mentions: " , ", metadata: " ", contact_name: "", reaction: "" };
    expect(bodyOf(values)).toEqual({ reaction: "" });
  });

  test("names a field that is not valid JSON, and one that its address needs", () => {
    expect(() => build(SEND, { metadata: "{" })).toThrow('"metadata" is not valid JSON.');
    expect(() => build(LIST, { jid: "" })).toThrow('"jid" is required.');
  });

  test("has the fields of a list in its query, and escapes those in its path", () => {
    const values = {
      jid: "a/../b@g.us",
      from: { toJSON: () => "2026-01-31T12:00:00+03:00" },
      archived: false,
    };
    expect(build(LIST, values, { more: { limit: 200, cursor: "a=b" } }).path).toBe(
      "/api/v1/instances/7/chats/a%2F..%2Fb%40g.us/messages?from=2026-01-31T12%3A00%3A00%2B03%3A00&archived=false&limit=200&cursor=a%3Db",
    );
  });

  test("is a form with a file, which a parser of forms reads", async () => {
    const file = {
      bytes: Buffer.from([0, 13, 10, 255]),
      fileName: 'preço "1"\r\n.png',
      mimeType: "image/png\r\nx: y",
    };
    const { headers, body } = build(SEND, { text: "a\r\nb", metadata: { a: 1 } }, { file });
    const form = await new Response(new Uint8Array(body as Buffer), { headers }).formData();
    const sent = form.get("file") as File;
    expect([form.get("text"), form.get("metadata"), sent.type]).toEqual([
      "a\r\nb",
      '{"a":1}',
      "image/png  x: y",
    ]);
    expect(sent.name).toBe('preço "1"\r\n.png');
    expect(Buffer.from(await sent.arrayBuffer())).toEqual(file.bytes);
    expect([...form.keys()]).toEqual(["text", "metadata", "file"]);
  });
});

describe("the idempotency key of the n8n node", () => {
  const origin = { workflowId: "w", executionId: "12", nodeId: "n", runIndex: 0, itemIndex: 3 };
  const request = build(SEND, { text: "Hello" });

  test("is the same for a repeated item", () => {
    expect(idempotencyKey({ ...origin }, build(SEND, { text: "Hello" }))).toBe(
      idempotencyKey(origin, request),
    );
    const file = () => ({ bytes: Buffer.from("x"), fileName: "x.txt" });
    expect(idempotencyKey(origin, build(SEND, {}, { file: file() }))).toBe(
      idempotencyKey(origin, build(SEND, {}, { file: file() })),
    );
  });

  test("differs with each part of its origin, and with the message", () => {
    const others = [
      idempotencyKey({ ...origin, workflowId: "v" }, request),
      idempotencyKey({ ...origin, executionId: "13" }, request),
      idempotencyKey({ ...origin, nodeId: "m" }, request),
      idempotencyKey({ ...origin, runIndex: 1 }, request),
      idempotencyKey({ ...origin, itemIndex: 4 }, request),
      idempotencyKey(origin, build(SEND, { text: "Hello!" })),
      idempotencyKey(origin, { ...request, path: "/api/v1/instances/8/send" }),
    ];
    const keys = new Set([idempotencyKey(origin, request), ...others]);
    expect(keys.size).toBe(others.length + 1);
    for (const key of keys) expect(key).toMatch(/^n8n-[0-9a-f]{64}$/);
  });
});
