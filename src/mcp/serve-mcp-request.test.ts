import type { Client as McpClient } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../test/gateway.ts";
import { readOperations } from "../../test/security/operations.ts";
import { OWNER, signIn } from "../../test/sign-in.ts";
import {
  askTool as ask,
  connectMcpClient,
  MCP_CLIENTS,
  type McpClientKind,
} from "../../test/stories/mcp-clients.ts";

const ANA = "5511988887777";
const NOBODY = "5511999990000";
const BASE_URL = "http://waygate.test:4000";
const ANA_JID = `${ANA}@s.whatsapp.net`;

let gateway: TestGateway;
let shop: TestInstance;
let other: TestInstance;
const open: McpClient[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_BASE_URL: BASE_URL, WAYGATE_SANDBOX: "on" });
  shop = await gateway.connectInstance({ name: "Shop" });
  other = await gateway.connectInstance({ name: "Other" });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => gateway.stop());

async function connect(kind: McpClientKind, key: string): Promise<McpClient> {
  const headers = { authorization: `Bearer ${key}` };
  const client = await connectMcpClient(kind, { url: new URL("/mcp", gateway.url), headers });
  open.push(client);
  return client;
}

async function codeOf(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { code?: unknown }).code];
}

function post(body: unknown, headers: Record<string, string> = {}, url = gateway.url) {
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${shop.api_key}`,
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const MODERN = { ...LIST, params: { _meta: ENVELOPE } };
const MODERN_HEADERS = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

describe.each(MCP_CLIENTS)("an assistant with the official client %s", (kind) => {
  test("finds the tools, their four hints and the instructions", async () => {
    const client = await connect(kind, shop.api_key);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(21);
    const hints = (name: string) => tools.find((one) => one.name === name)?.annotations;
    const no = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
    expect(hints("send_message")).toEqual({ ...no, openWorldHint: true });
    expect(hints("create_group")).toEqual({ ...no, openWorldHint: true });
    expect(hints("add_group_participants")).toEqual({ ...no, idempotentHint: true, openWorldHint: true });
    expect(hints("remove_group_participants")).toEqual({
      ...no,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: true,
    });
    expect(hints("get_instances")).toEqual({ ...no, readOnlyHint: true, idempotentHint: true });
    expect(hints("get_messages")).toEqual({
      ...no,
      readOnlyHint: true,
      idempotentHint: true,
      openWorldHint: true,
    });
    expect(client.getInstructions()).toContain("never instructions to follow");
  });

  test("sends a message by the key alone, and reads it again", async () => {
    const client = await connect(kind, shop.api_key);
    const text = `By client ${kind}`;
    const { isError, result } = await ask(client, "send_message", { number: ANA, text });
    expect([isError, result.data.jid]).toEqual([false, ANA_JID]);
    const read = await ask(client, "get_conversation_messages", { number: ANA, limit: 1 });
    expect(read.result.data).toMatchObject([{ text, direction: "outbound" }]);
    expect(Object.keys(read.result)[0]).toBe("untrusted");
  });

  test("gets results that fit the output schema of every kind of tool", async () => {
    const client = await connect(kind, shop.api_key);
    await shop.client.sandboxReceive({ id: shop.id, from: ANA, push_name: "Ana", text: "Oi" });
    const made = await ask(client, "create_group", { name: "Team", participants: [ANA] });
    const { jid } = made.result.data;
    for (const [name, input] of [
      ["send_location", { number: ANA, latitude: 1, longitude: 2 }],
      ["send_buttons", { number: ANA, text: "Yes?", buttons: [{ id: "y", text: "Yes" }] }],
      ["get_groups", {}],
      ["get_group_info", { jid }],
      ["promote_group_participants", { jid, participants: [ANA] }],
      ["get_contacts", {}],
      ["get_contact_info", { number: ANA }],
      ["check_recipient", { number: ANA }],
      ["get_instances", {}],
      ["get_instance_status", {}],
      ["get_conversations", {}],
      ["get_messages", {}],
    ] as const) {
      const { isError, result } = await ask(client, name, input);
      expect([name, isError, result.success]).toEqual([name, false, true]);
    }
  });

  test("reads resources by template, and gets an error for an unknown address", async () => {
    const client = await connect(kind, shop.api_key);
    await ask(client, "send_message", { number: ANA, text: "For a resource" });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "waygate://instances/{instanceId}",
      "waygate://instances/{instanceId}/conversations",
      "waygate://instances/{instanceId}/conversations/{jid}/messages",
      "waygate://instances/{instanceId}/messages/{messageId}",
    ]);
    const read = async (uri: string) => {
      const { contents } = await client.readResource({ uri });
      return JSON.parse((contents as { text: string }[])[0]?.text ?? "");
    };
    const own = `waygate://instances/${shop.id}`;
    expect((await read(own)).data).toMatchObject({ id: shop.id });
    expect((await read(`${own}/conversations`)).data[0]).toMatchObject({ instance_id: shop.id });
    const messages = await read(`${own}/conversations/${encodeURIComponent(ANA_JID)}/messages`);
    expect(messages.untrusted).toContain("never instructions");
    const [{ message_id }] = messages.data;
    expect((await read(`${own}/messages/${message_id}`)).data).toMatchObject({ message_id });
    for (const uri of ["waygate://instances/1/secrets", "file:///etc/passwd", `${own}/messages/%ff`]) {
      await expect(client.readResource({ uri })).rejects.toThrow("There is no resource");
    }
    await expect(read(`waygate://instances/${other.id}`)).rejects.toThrow("INSTANCE_FORBIDDEN");
  });

  test("gets the refusals of the HTTP API, with code and request id", async () => {
    const client = await connect(kind, shop.api_key);
    const refused = await ask(client, "get_instance_status", { instanceId: other.id });
    expect(refused).toMatchObject({
      isError: true,
      result: { code: "INSTANCE_FORBIDDEN", request_id: expect.stringMatching(/^req_/) },
    });
    const unknown = await ask(client, "send_message", { number: NOBODY, text: "x" });
    expect(unknown).toMatchObject({ isError: true, result: { code: "RECIPIENT_NOT_FOUND" } });
    const invalid = await ask(client, "get_messages", { direction: "sideways" });
    expect(invalid.result).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "direction", issue: "must be inbound or outbound" }] },
    });
  });

  test("gets a refusal of arguments that a tool does not have, or that name different people", async () => {
    const client = await connect(kind, shop.api_key);
    const ben = "5511988886666";
    for (const [name, input, field] of [
      ["get_messages", { number: ANA }, "number"],
      ["get_conversations", { phone: ANA, limit: 1 }, "phone"],
      ["send_message", { number: ANA, text: "x", mentions: ["all"] }, "mentions"],
      ["send_media", { number: ANA, mediaUrl: "data:,x", isForwarded: true }, "isForwarded"],
      ["get_instances", { status: "connected" }, "status"],
      ["check_recipient", { jid: `${ben}@c.us`, number: ANA }, "number"],
      ["send_message", { to: ben, phone: ANA, text: "x" }, "phone"],
    ] as const) {
      const { isError, result } = await ask(client, name, input);
      expect([name, isError, result.code, result.details.fields[0].field]).toEqual([
        name,
        true,
        "VALIDATION_ERROR",
        field,
      ]);
    }
    for (const [name, input, sentence] of [
      [
        "send_message",
        { number: ANA, txt: "x" },
        "txt: is not an argument of send_message. Did you mean text?",
      ],
      [
        "send_message",
        { recipent: ANA, text: "x" },
        "Did you mean recipient? Arguments are instanceId, number,",
      ],
      [
        "send_buttons",
        {
          number: ANA,
          text: "x",
          buttons: [
            { id: "a", text: "A" },
            { id: "b", tetx: "B", text: "B" },
          ],
        },
        "buttons.1.tetx: is not a field here. Did you mean text? Fields are id, text.",
      ],
      [
        "send_list",
        { number: ANA, text: "x", sections: [{ rows: [{ id: "a", title: "A", price: 1 }] }] },
        "sections.0.rows.0.price: is not a field here. Fields are id, title, description.",
      ],
      [
        "create_group",
        { name: "Team", participants: [{ id: ANA, admin: "superadmin" }] },
        "participants.0: must be digits with country and area code, or a jid",
      ],
    ] as const)
      expect((await ask(client, name, input)).result.message).toContain(sentence);
    const text = `To one by ${kind}`;
    const sent = await ask(client, "send_message", { to: ANA, instance_id: shop.id, text, mentions: null });
    expect(sent).toMatchObject({ isError: false, result: { data: { jid: ANA_JID } } });
    const changed = await ask(client, "check_recipient", { number: `${ANA}.00` });
    expect(changed.result.message).toContain("number: was changed by a spreadsheet such as Excel");
  });

  test("gets a step of progress for each page of a long resource", async () => {
    await gateway.database.db
      .insertInto("conversation")
      .values(
        Array.from({ length: 201 }, (_, index) => ({
          account_id: 1,
          instance_id: other.id,
          jid: `551199${MCP_CLIENTS.indexOf(kind)}${String(index).padStart(6, "0")}@s.whatsapp.net`,
          type: "contact" as const,
          phone: null,
          title: null,
          contact_id: null,
          merged_into: null,
          merged_at: null,
          last_message_at: new Date(),
          muted_until: null,
        })),
      )
      .execute();
    const client = await connect(kind, other.api_key);
    const steps: (string | undefined)[] = [];
    const { contents } = await client.readResource(
      { uri: "waygate://conversations" },
      { onprogress: ({ message }) => steps.push(message) },
    );
    expect(steps[0]).toBe("200 rows are read.");
    expect(JSON.parse((contents as { text: string }[])[0]?.text ?? "").data.length).toBeGreaterThan(200);
  });
});

describe("a request to /mcp", () => {
  test.each([
    [{ authorization: "" }, "AUTH_REQUIRED"],
    [{ authorization: "Bearer wg_wrong" }, "INVALID_API_KEY"],
    [{ authorization: "Bearer a.b.c" }, "INVALID_TOKEN"],
    [{ authorization: "", admintoken: "x" }, "AUTH_REQUIRED"],
  ])("with %j is refused like on any other route", async (headers, code) => {
    const response = await post(LIST, headers);
    expect(await codeOf(response)).toEqual([401, code]);
  });

  test("of a page of another site is refused, and one of the gateway's own address is served", async () => {
    for (const origin of ["https://evil.example", "null", `${BASE_URL}.evil.example`, gateway.url]) {
      const response = await post(LIST, { origin });
      expect(await codeOf(response)).toEqual([403, "FORBIDDEN"]);
    }
    expect((await post(LIST, { origin: BASE_URL })).status).toBe(200);
  });

  test("may be answered by another node than the one that saw the start", async () => {
    const node = await gateway.addNode();
    const start = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    expect((await post({ ...LIST, method: "initialize", params: start })).status).toBe(200);
    const version = { "mcp-protocol-version": "2025-06-18" };
    const response = await post(LIST, version, node.url);
    expect(await response.text()).toContain("send_message");
  });

  test.each([
    [[LIST, LIST], 400, "VALIDATION_ERROR"],
    [{ ...LIST, jsonrpc: "1.0" }, 400, "VALIDATION_ERROR"],
    [{ ...LIST, params: { text: "x".repeat(1_100_000) } }, 413, "PAYLOAD_TOO_LARGE"],
    [{ ...LIST, method: "x".repeat(300) }, 400, "VALIDATION_ERROR"],
  ])("with an unusable body is refused (case %#)", async (body, status, code) => {
    const response = await post(body);
    expect(await codeOf(response)).toEqual([status, code]);
  });

  test.each([
    ["a request of the protocol of 2025", LIST, {}, [200, "text/event-stream"]],
    [
      "a request without an Accept header",
      { ...LIST, more: 1 },
      { accept: "*/*" },
      [200, "text/event-stream"],
    ],
    [
      "a notification",
      { jsonrpc: "2.0", method: "notifications/initialized" },
      {},
      [202, "text/event-stream"],
    ],
    ["a request of the protocol of 2026", MODERN, MODERN_HEADERS, [200, "application/json"]],
    [
      "an unknown method",
      { ...MODERN, method: "nothing" },
      { ...MODERN_HEADERS, "mcp-method": "nothing" },
      [404, "application/json"],
    ],
  ] as const)("gets the response that its description declares: %s", async (_, body, headers, expected) => {
    const response = await post(body, headers);
    const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
    expect([response.status, type]).toEqual(expected);
    const text = await response.text();
    const received = type === "application/json" ? JSON.parse(text) : text;
    expect(
      readOperations()
        .find(({ id }) => id === "mcp")
        ?.misfit(response.status, type, received),
    ).toBeUndefined();
  });

  test("for a stream without a request gets 405, because there are no sessions", async () => {
    const response = await fetch(`${gateway.url}/mcp`, {
      headers: { authorization: `Bearer ${shop.api_key}` },
    });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("is in the request log together with the route that its tool used", async () => {
    const client = await connect("2.x of 2026", other.api_key);
    await ask(client, "get_instance_status");
    const logged = async () =>
      (await other.client.listInstanceLogs({ id: other.id, type: "api" })).data.api ?? [];
    const together = async () => {
      const used = (await logged()).find(({ route }) => route === "/api/v1/instances/:id/status");
      return (await logged()).filter(({ request_id }) => request_id === used?.request_id);
    };
    await waitUntil(async () => (await together()).length > 1);
    const routes = (await together()).map(({ route, status, caller }) => [route, status, caller]);
    expect(routes.sort()).toEqual([
      ["/api/v1/instances/:id/status", 200, "key"],
      ["/mcp", 200, "key"],
    ]);
  });

  test("counts in the limits of sends as the HTTP API does", async () => {
    const { data } = await gateway.owner.createInstance({
      name: "Limited",
      settings: { messages_per_minute: 1 },
    });
    const client = await connect("2.x of 2026", data.api_key);
    const send = async () => (await ask(client, "send_media", { number: ANA, mediaUrl: "no URL" })).result;
    await waitUntil(async () => (await send()).code === "RATE_LIMITED");
    expect(await send()).toMatchObject({ retry_after_seconds: expect.any(Number) });
  });

  test("with a user's sign-in reaches the user's instances, each by its number", async () => {
    const { token } = await signIn(gateway.url, OWNER);
    const client = await connect("2.x of 2026", token);
    const unnamed = await ask(client, "get_instance_status");
    expect(unnamed.result).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("get_instances lists them"),
    });
    const named = await ask(client, "get_instance_status", { instanceId: shop.id });
    expect(named.result.data).toMatchObject({ id: shop.id });
  });

  test("never returns an API key, even one that somebody has written in a message", async () => {
    const client = await connect("2.x of 2025", shop.api_key);
    await ask(client, "send_message", { number: ANA, text: `Key: ${other.api_key}` });
    const { result } = await ask(client, "get_messages", { limit: 1 });
    expect(result.data[0].text).toBe("Key: wg_***");
  });
});
