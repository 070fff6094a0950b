// Answers every text with the same text, quoting it.
//   WAYGATE_API_KEY=wg_... WEBHOOK_SECRET=whsec_... PORT=8080 node examples/echo-bot.mjs
import { createServer } from "node:http";
import { createClient, verifyWebhook, WaygateError, WebhookVerificationError } from "waygate/client";

const { WAYGATE_BASE_URL = "http://127.0.0.1:3000", WAYGATE_API_KEY, WEBHOOK_SECRET } = process.env;
if (!WAYGATE_API_KEY || !WEBHOOK_SECRET) {
  console.error("WAYGATE_API_KEY and WEBHOOK_SECRET are required.");
  process.exit(2);
}
const client = createClient({ baseUrl: WAYGATE_BASE_URL, apiKey: WAYGATE_API_KEY });

const MAX_BODY_BYTES = 1024 * 1024;

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

async function answer({ event, event_id, instance, data: { message } }) {
  if (event !== "message.received" || message.is_group || !message.text) return;
  await client.sendReply(
    { id: instance.id, jid: message.jid, message_id: message.message_id, text: message.text, async: true },
    // A delivery that comes twice is answered once.
    { idempotencyKey: event_id },
  );
}

const server = createServer(async (request, response) => {
  try {
    // A request that is cut off throws here; an error that nobody catches would end the program.
    const body = await readBody(request);
    await answer(await verifyWebhook({ headers: request.headers, body }, { secret: WEBHOOK_SECRET }));
    response.writeHead(204).end();
  } catch (error) {
    const isForged = error instanceof WebhookVerificationError;
    console.error(error instanceof WaygateError ? `${error.code}: ${error.message}` : error);
    // Anything but a 2xx is delivered again later.
    response.writeHead(isForged ? 401 : 503).end();
  }
});
server.listen(Number(process.env.PORT ?? "8080"), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
