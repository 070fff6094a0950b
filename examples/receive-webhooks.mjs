// Receives webhooks, verifies each and prints one line per event.
//   WEBHOOK_SECRET=whsec_... PORT=8080 node examples/receive-webhooks.mjs
import { createServer } from "node:http";
import { verifyWebhook, WebhookVerificationError } from "waygate/client";

const { WEBHOOK_SECRET: secret, PORT = "8080" } = process.env;
if (!secret) {
  console.error("WEBHOOK_SECRET is required: the secret of the webhook.");
  process.exit(2);
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Deliveries are at least once. A program that runs for long keeps these ids in its database, for two days. */
const handled = new Set();

async function readBody(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error("The body is too large.");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const server = createServer(async (request, response) => {
  try {
    // The raw bytes: a body that was parsed and written anew has another signature.
    const body = await readBody(request);
    const event = await verifyWebhook({ headers: request.headers, body }, { secret });
    response.writeHead(204).end();
    if (handled.has(event.event_id)) return;
    handled.add(event.event_id);
    console.log(`${event.sequence} ${event.event} ${event.data.message?.text ?? ""}`.trimEnd());
  } catch (error) {
    // Also a request that was cut off: an error that nobody catches would end the program.
    console.error(error.message);
    if (!response.headersSent)
      response.writeHead(error instanceof WebhookVerificationError ? 401 : 400).end();
  }
});
server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
