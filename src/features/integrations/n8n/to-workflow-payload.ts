import { phoneOfJid } from "../../../network/jid.ts";
import type { MediaUrls } from "../../media/media.ts";
import type { EventWork } from "../integration-provider.ts";
import type { N8nConfig } from "./n8n-config.ts";

const LINK_SECONDS = 7 * 86_400;

interface PayloadOptions {
  instanceId: number;
  config: N8nConfig;
  mediaUrls: MediaUrls;
  /** The file itself, in base64. */
  file: string | undefined;
}

/**
 * The body of the event, byte for byte as webhooks receive it, with flat fields added that a workflow can
 * read directly. The same in every attempt, except for the signature of a file's link.
 */
export function toWorkflowPayload(event: EventWork["event"], options: PayloadOptions): Buffer {
  const flat = JSON.stringify(flatFields(event, options));
  const end = event.body.lastIndexOf("}");
  return Buffer.concat([event.body.subarray(0, end), Buffer.from(`,${flat.slice(1)}`)]);
}

function flatFields(
  { data, chat, recorded_at }: EventWork["event"],
  { instanceId, config, mediaUrls, file }: PayloadOptions,
) {
  const message = data.message ?? {};
  const jid: string = message.jid ?? data.jid ?? chat;
  const media = config.media === "none" ? undefined : (message.media ?? undefined);
  return {
    chatInput: message.text ?? message.caption ?? data.text ?? "",
    sessionId: `${instanceId}:${jid}`,
    remoteJid: jid,
    number: message.phone ?? phoneOfJid(jid),
    pushName: message.sender?.push_name ?? null,
    messageId: message.message_id ?? data.message_id ?? null,
    messageType: message.type ?? null,
    fromMe: message.from_me ?? false,
    isGroup: message.is_group ?? jid.endsWith("@g.us"),
    origin: message.origin ?? null,
    instanceId,
    quotedMessageId: message.quoted?.id ?? null,
    ...(media?.id && {
      mediaUrl: urlUntil(mediaUrls, media.id, recorded_at),
      mimetype: media.mime_type,
      ...(file !== undefined && { mediaBase64: file }),
    }),
  };
}

function urlUntil(mediaUrls: MediaUrls, mediaId: string, from: Date): string {
  const leftSeconds = LINK_SECONDS - Math.floor((Date.now() - from.getTime()) / 1000);
  return mediaUrls.create(mediaId, Math.max(60, leftSeconds));
}
