// Sends one text and says what became of it.
//   WAYGATE_API_KEY=wg_... WAYGATE_INSTANCE_ID=1 node examples/send-text.mjs 5511999990004 "Hello"
import { randomUUID } from "node:crypto";
import { createClient, WaygateError } from "waygate/client";

const { WAYGATE_BASE_URL = "http://127.0.0.1:3000", WAYGATE_API_KEY, WAYGATE_INSTANCE_ID } = process.env;
const [number, text] = process.argv.slice(2);
if (!WAYGATE_API_KEY || !WAYGATE_INSTANCE_ID || !number || !text) {
  console.error("Usage: WAYGATE_API_KEY=... WAYGATE_INSTANCE_ID=... node send-text.mjs <number> <text>");
  process.exit(2);
}

const client = createClient({ baseUrl: WAYGATE_BASE_URL, apiKey: WAYGATE_API_KEY });
try {
  // The same key may be used again after a failure: the message still goes out once.
  const { data } = await client.sendText(
    { id: WAYGATE_INSTANCE_ID, number, text },
    { idempotencyKey: randomUUID() },
  );
  console.log(`${data.status}: ${data.message_id} to ${data.jid}`);
} catch (error) {
  if (!(error instanceof WaygateError)) throw error;
  console.error(`${error.code}: ${error.message} (${error.request_id})`);
  process.exitCode = 1;
}
