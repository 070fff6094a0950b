import { request } from "undici";
import { createE2eStory } from "../e2e/e2e-story.ts";
import { waitUntil } from "../gateway.ts";
import { residentMb } from "../run/process-figures.ts";

export interface LargeResponsesFigures {
  downloads_at_once: number;
  file_bytes: number;
  /** Base64 of all responses. */
  response_mb: number;
  memory_before_mb: number;
  memory_most_mb: number;
}

export interface LargeResponsesOptions {
  downloads: number;
  fileBytes: number;
  /** PostgreSQL server, outside of a test run. */
  server?: string;
}

/** Concurrent base64 downloads of one file, with the gateway's peak memory. */
export async function measureLargeResponses({
  downloads,
  fileBytes,
  server,
}: LargeResponsesOptions): Promise<LargeResponsesFigures> {
  const story = await createE2eStory({}, server);
  try {
    const { url, pid } = await story.start();
    const instance = await story.pair();
    const headers = { "x-api-key": instance.api_key };
    const base = `${url}/api/v1/instances/${instance.id}`;
    const form = new FormData();
    form.set("number", "5511988881234");
    form.set("file", new Blob([Buffer.alloc(fileBytes, "waygate ")]), "large.bin");
    const sent = await fetch(`${base}/send-media`, { method: "POST", headers, body: form });
    const { data } = (await sent.json()) as { data: { message_id: string } };
    const download = async () => {
      const { statusCode, body } = await request(`${base}/messages/download`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ message_id: data.message_id, return_base64: true }),
      });
      let bytes = 0;
      for await (const piece of body) bytes += (piece as Buffer).length;
      if (statusCode !== 200) throw new Error(`the download answered ${statusCode}`);
      return bytes;
    };
    await waitUntil(async () => (await story.rows("select from media where status = 'ready'")).length > 0);
    await download();
    const memory_before_mb = await residentMb(pid);
    let memory_most_mb = memory_before_mb;
    const watch = setInterval(async () => {
      memory_most_mb = Math.max(memory_most_mb, await residentMb(pid).catch(() => 0));
    }, 20);
    const answered = await Promise.all(Array.from({ length: downloads }, download));
    clearInterval(watch);
    return {
      downloads_at_once: downloads,
      file_bytes: fileBytes,
      response_mb: Math.round(answered.reduce((all, bytes) => all + bytes, 0) / 2 ** 20),
      memory_before_mb: Math.round(memory_before_mb),
      memory_most_mb: Math.round(memory_most_mb),
    };
  } finally {
    await story.end();
  }
}
