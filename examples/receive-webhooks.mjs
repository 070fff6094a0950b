// Receives webhooks, verifies each and prints one line per event.
//   WEBHOOK_SECRET=whsec_... PORT=8080 node examples/receive-webhooks.mjs
import { createServer } from "node:http";
import { verifyWebhook, WebhookVerificationError } from "waygate/client";

const { WEBHOOK_SECRET: secret, PORT = "8080" } = process.env;
if (!secret) {
  console.error("WEBHOOK_SECRET is required: the secret of the webhook.");
  process.exit(2);
}

/** Deliveries are at least once. A program that runs for long keeps these ids in its database, for two days. */
const handled = new Set();

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  try {
    // The raw bytes: a body that was parsed and written anew has another signature.
    const event = await verifyWebhook({ headers: request.headers, body: Buffer.concat(parts) }, { secret });
    response.writeHead(204).end();
    if (handled.has(event.event_id)) return;
    handled.add(event.event_id);
    console.log(`${event.sequence} ${event.event} ${event.data.message?.text ?? ""}`.trimEnd());
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.error(error.message);
    response.writeHead(401).end();
  }
});
server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
