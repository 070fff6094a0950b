// @ts-check
// The first-message story through the generated types: prints what it saw as one line of JSON.
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";

/** @typedef {import("./schema.ts").paths} paths */
/** @typedef {import("./schema.ts").webhooks["message.sent"]["post"]["requestBody"]["content"]["application/json"]} Sent */

const { WAYGATE_BASE_URL, WAYGATE_EMAIL = "", WAYGATE_PASSWORD = "" } = process.env;
const { WAYGATE_TEST_PHONE = "", WAYGATE_TEST_RECIPIENT = "" } = process.env;

/** @param {Record<string, string>} headers */
function clientWith(headers) {
  return /** @type {import("openapi-fetch").Client<paths, "application/json">} */ (
    createClient({ baseUrl: WAYGATE_BASE_URL, headers })
  );
}

/** @template T @param {{ data?: T, error?: unknown }} answer @returns {T} */
function dataOf({ data, error }) {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** @type {(event: Sent) => void} */
let deliver = () => {};
/** @type {Promise<Sent>} */
const delivered = new Promise((resolve) => {
  deliver = resolve;
});
const receiver = createServer(async (request, response) => {
  const event = /** @type {Sent} */ (await new Response(/** @type {any} */ (request)).json());
  response.end();
  if (event.event === "message.sent") deliver(event);
});
await once(receiver.listen(0, "127.0.0.1"), "listening");
const { port } = /** @type {import("node:net").AddressInfo} */ (receiver.address());

const credentials = { email: WAYGATE_EMAIL, password: WAYGATE_PASSWORD };
const { token } = dataOf(await clientWith({}).POST("/api/auth/login", { body: credentials }));
const owner = clientWith({ authorization: `Bearer ${token}` });
const { data: created } = dataOf(
  await owner.POST("/api/v1/instances", { body: { name: "Types", network: "sandbox" } }),
);

const client = clientWith({ "x-api-key": created.api_key });
const params = { path: { id: created.id } };
dataOf(
  await client.POST("/api/v1/instances/{id}/sandbox/scan", { params, body: { phone: WAYGATE_TEST_PHONE } }),
);
while (!dataOf(await client.GET("/api/v1/instances/{id}/status", { params })).data.connected)
  await setTimeout(20);

const url = `http://127.0.0.1:${port}/`;
dataOf(await client.POST("/api/v1/instances/{id}/webhooks", { params, body: { url } }));
const send = (/** @type {string} */ number) =>
  client.POST("/api/v1/instances/{id}/send-text", { params, body: { number, text: "Hello from types" } });
const { data: sent } = dataOf(await send(WAYGATE_TEST_RECIPIENT));
if (!("message_id" in sent)) throw new Error("The message is queued.");
const event = await delivered;

const { data: messages } = dataOf(
  await client.GET("/api/v1/instances/{id}/messages", { params: { ...params, query: { limit: 5 } } }),
);
const { data: events } = dataOf(
  await client.GET("/api/v1/instances/{id}/webhook-events", {
    params: { ...params, query: { event: "message.sent" } },
  }),
);
const { error, response } = await send("12");
const result = {
  instance_id: created.id,
  message_id: sent.message_id,
  delivered: event.data.message?.message_id,
  messages: messages.map(({ message_id, text, direction }) => ({ message_id, text, direction })),
  events: events.map((one) => one.event),
  refusal: { status: response.status, code: error?.code },
};
process.stdout.write(JSON.stringify(result));
receiver.close();
receiver.closeAllConnections();
