import type { MediaType } from "../../network/driver.ts";
import type { Db } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";
import { dropOutgoing, readMedia } from "../messages/messages.ts";
import type { IntegrationDeps } from "./provider.ts";
import type { Reply } from "./queue-replies.ts";

/** What a provider wants to say, before its files are fetched. */
export type ReplyPart = Pick<Reply, "delay_ms" | "run_at"> &
  (
    | { kind: "text"; text: string }
    | { kind: "media"; url: string; type?: MediaType; caption?: string; file_name?: string }
  );

type MediaPart = Extract<ReplyPart, { kind: "media" }>;

/** Time for all of a reply's files together. */
const FILES_MS = 60_000;
const FILE_MS = 20_000;

/**
 * Fetches the files of a reply, each within 20 s; one that cannot be had goes as its address and its caption, so that
 * nothing that was said is lost. `failures`: why, in words.
 */
export async function toReplies(
  deps: IntegrationDeps,
  account_id: number,
  parts: readonly ReplyPart[],
): Promise<{ replies: Reply[]; failures: string[] }> {
  const replies: Reply[] = [];
  const failures: string[] = [];
  const giveUpAt = performance.now() + FILES_MS;
  for (const part of parts) {
    const { delay_ms, run_at } = part;
    const delay = { ...(delay_ms !== undefined && { delay_ms }), ...(run_at && { run_at }) };
    if (part.kind === "text") {
      replies.push({ content: { kind: "text", text: part.text }, ...delay });
      continue;
    }
    const leftMs = Math.min(FILE_MS, giveUpAt - performance.now());
    const content = await fetchFile({ ...deps, account_id }, part, leftMs).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      failures.push(error.message);
      return { kind: "text" as const, text: inWords(part) };
    });
    replies.push({ content, ...delay });
  }
  return { replies, failures };
}

async function fetchFile(
  { db, outgoing, maxBytes, converter, account_id }: IntegrationDeps & { account_id: number },
  { url, type, caption, file_name }: MediaPart,
  leftMs: number,
) {
  const named = { url, ...(type && { type }), ...(caption && { caption }), ...(file_name && { file_name }) };
  if (leftMs <= 0) throw new GatewayError("MEDIA_DOWNLOAD_FAILED", "The files of the reply took too long.");
  return readMedia(named, { db, outgoing, maxBytes, converter, account_id, downloadMs: leftMs });
}

/** The address of a file, below what was to stand under it. */
function inWords({ url, caption }: Pick<MediaPart, "url" | "caption">): string {
  return caption ? `${caption}\n${url}` : url;
}

/** Forgets the files of replies that are not sent. */
export async function dropReplies(db: Db, replies: readonly Reply[]): Promise<void> {
  const uploads = replies.flatMap(({ content }) =>
    content.kind === "media" && content.upload ? [content.upload] : [],
  );
  if (uploads.length > 0) await dropOutgoing(db, uploads).catch(() => {});
}
