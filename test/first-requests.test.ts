import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.ts";

let gateway: TestGateway;
let shop: { id: number; api_key: string };

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_ALLOWED_HOSTS: "external", WAYGATE_METRICS_TOKEN: "" });
  shop = await gateway.createInstance();
});
afterAll(() => gateway.stop());

interface Refusal {
  code: string;
  message: string;
  details?: { fields?: { field: string }[] };
}

/** A request as a new user types it; the body is sent unchanged. */
async function send(path: string, body?: string, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "x-api-key": shop.api_key, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body }),
  });
  const { code, message, details }: Refusal = JSON.parse(await response.text());
  return { status: response.status, code, message, fields: details?.fields };
}

const ofShop = (path: string) => `/api/v1/instances/${shop.id}${path}`;

test.each(["Sales", "inst_2", ":id", "0", "1.5"])(
  "%s in the place of the instance id is refused",
  async (id) => {
    const refused = await send(`/api/v1/instances/${id}/send-text`, "{}");
    expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(refused.message).toMatch(/^id: must be the number of an instance in the path/);
    expect((await send(`/api/v1/instances/${id}/send-text`, "{}", { "x-api-key": "wrong" })).status).toBe(
      401,
    );
  },
);

test("a trailing comma is refused with its line and column", async () => {
  const body = '{"number":"5511999990004",\n"text":"Hello",}';
  expect((await send(ofShop("/send-text"), body)).message).toBe(
    "The body is not valid JSON at line 2, column 16.",
  );
});

test("a request without a body is refused with that reason, whichever part misses the fields", async () => {
  expect((await send(ofShop("/send-text"))).message).toMatch(/^The request has no body\. \w+: /);
  expect((await send("/api/auth/login")).message).toMatch(/^The request has no body\. \w+: is required$/);
  expect((await send(ofShop("/send-text"), "{}")).message).not.toContain("no body");
});

test("a field that a handler refuses is reported with the name under which it was sent", async () => {
  const { message, fields } = await send(ofShop("/send-text"), '{"to":"not a phone","text":"Hello"}');
  expect(message).toMatch(/^to: /);
  expect(fields?.[0]?.field).toBe("to");
});

test("null fields count as absent", async () => {
  const absent = {
    reply_to: null,
    mentions: null,
    link_preview: null,
    metadata: null,
    track_id: null,
    delay: null,
  };
  const body = { number: "5511999990004", text: "Hello", client_message_id: null, async: null, ...absent };
  expect(await send(ofShop("/send-text"), JSON.stringify(body))).toMatchObject({
    code: "INSTANCE_NOT_CONNECTED",
  });
});

test("a send before the pairing says that the instance must be paired first", async () => {
  const { message } = await send(ofShop("/send-text"), '{"number":"5511999990004","text":"Hello"}');
  expect(message).toBe(
    `The instance is not connected. Call POST /api/v1/instances/${shop.id}/connect and scan the QR first.`,
  );
});

test("a private address is refused with the settings that would allow it", async () => {
  const { message } = await send(ofShop("/webhooks"), '{"url":"http://10.0.0.1/hook"}');
  expect(message).toContain("WAYGATE_ALLOWED_HOSTS");
});

test("a route of another gateway, and one that a setting closes, point to the documentation", async () => {
  expect((await send("/message/sendText/sales", "{}")).message).toContain("/docs/waygate/migration");
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain("WAYGATE_METRICS_TOKEN is not set");
});
