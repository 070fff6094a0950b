// Sends a campaign to the people of a CSV file and waits for its end.
// The first line of the file names the columns: one is "phone", the others are variables of the template.
//   WAYGATE_EMAIL=... WAYGATE_PASSWORD=... WAYGATE_INSTANCE_ID=1 \
//     node examples/campaign-from-csv.mjs people.csv "Hello {{name}}" [--start]
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "waygate/client";

const { WAYGATE_BASE_URL: baseUrl = "http://127.0.0.1:3000", WAYGATE_INSTANCE_ID: instance_id } = process.env;
const {
  WAYGATE_EMAIL: email,
  WAYGATE_PASSWORD: password,
  MIN_DELAY_MS = "3000",
  MAX_DELAY_MS = "9000",
} = process.env;
const [file, message_template, isStart] = process.argv.slice(2);
if (!email || !password || !instance_id || !file || !message_template) {
  console.error('Usage: node campaign-from-csv.mjs <file.csv> "Hello {{name}}" [--start]');
  process.exit(2);
}

const { token } = await createClient({ baseUrl }).login({ email, password });
const client = createClient({ baseUrl, token });
const {
  data: { id },
} = await client.createCampaign({
  name: file,
  instance_id,
  message_template,
  min_delay_ms: MIN_DELAY_MS,
  max_delay_ms: MAX_DELAY_MS,
});

const bytes = await readFile(file);
const { data: added } = await client.addRecipients({
  id,
  file: { bytes, mime_type: "text/csv", file_name: "people.csv" },
});
console.log(
  `${added.inserted} added, ${added.duplicates} twice in the file, ${added.invalid_count} not readable`,
);
for (const { value, reason } of added.invalid) console.log(`  ${value}: ${reason}`);

const { data: shown } = await client.previewCampaign({ id });
for (const { phone, text } of shown.previews) console.log(`${phone} would read: ${text}`);
for (const { message } of shown.warnings) console.log(`careful: ${message}`);
if (isStart !== "--start") {
  console.log(`Campaign ${id} is made and not started; --start starts the one that it makes.`);
  process.exit(0);
}

await client.startCampaign({ id });
for (;;) {
  const { data } = await client.getCampaign({ id });
  const { total, sent, failed, skipped } = data.totals;
  console.log(`${data.status}: ${sent} of ${total} sent, ${failed} failed, ${skipped} left out`);
  if (["completed", "cancelled", "failed", "paused"].includes(data.status)) break;
  await sleep(1_000);
}
