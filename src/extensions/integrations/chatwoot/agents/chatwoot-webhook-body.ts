import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";

const id = z.coerce.number().int();

const attachment = z.looseObject({
  file_type: z.string().nullish(),
  data_url: z.string().nullish(),
});

const conversation = z.looseObject({
  id,
  inbox_id: id.nullish(),
  contact_inbox: z.looseObject({ contact_id: id.nullish(), source_id: z.string().nullish() }).nullish(),
  meta: z
    .looseObject({
      sender: z
        .looseObject({
          id: id.nullish(),
          name: z.string().nullish(),
          identifier: z.string().nullish(),
          phone_number: z.string().nullish(),
        })
        .nullish(),
    })
    .nullish(),
});

const message = z.looseObject({
  event: z.enum(["message_created", "message_updated"]),
  id,
  content: z.string().nullish(),
  content_type: z.string().nullish(),
  content_attributes: z.record(z.string(), z.unknown()).nullish(),
  message_type: z.string(),
  private: z.boolean().nullish(),
  source_id: z.string().nullish(),
  created_at: z.union([z.string(), z.number().transform((s) => new Date(s * 1000).toISOString())]).nullish(),
  sender: z.looseObject({ name: z.string().nullish() }).nullish(),
  inbox: z.looseObject({ id }),
  account: z.looseObject({ id }),
  conversation,
  attachments: z.array(attachment).nullish(),
});

const statusChange = conversation.extend({
  event: z.literal("conversation_status_changed"),
  status: z.string(),
});

const typing = z.looseObject({
  event: z.enum(["conversation_typing_on", "conversation_typing_off"]),
  user: z.looseObject({ type: z.string().nullish() }).nullish(),
  conversation,
  is_private: z.boolean().nullish(),
});

const webhookBody = z.discriminatedUnion("event", [message, statusChange, typing]);

export type AgentMessage = z.output<typeof message>;
export type Attachment = z.output<typeof attachment>;
export type WebhookConversation = z.output<typeof conversation>;
export type ConversationStatusChange = z.output<typeof statusChange>;
export type TypingEvent = z.output<typeof typing>;
export type ChatwootWebhookBody = z.output<typeof webhookBody>;

/** The relevant part of Chatwoot's webhook body; undefined for other bodies. */
export function readWebhookBody(body: unknown): ChatwootWebhookBody | undefined {
  return webhookBody.safeParse(body).data;
}

const OLDEST_SECONDS = 300;

/** Whether the body has a recent signature with the inbox's secret. */
export function isSignedBody(
  secret: string,
  bytes: Buffer,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs = Date.now(),
): boolean {
  const timestamp = String(headers["x-chatwoot-timestamp"] ?? "");
  const age = Math.abs(nowMs / 1000 - Number(timestamp));
  if (!/^\d{1,12}$/.test(timestamp) || age > OLDEST_SECONDS) return false;
  const right = createHmac("sha256", secret).update(`${timestamp}.`).update(bytes).digest("hex");
  return timingSafeEqualText(String(headers["x-chatwoot-signature"] ?? ""), `sha256=${right}`);
}

/** Compares in a time that does not depend on where the texts differ. */
export function timingSafeEqualText(received: string, right: string): boolean {
  const [one, other] = [Buffer.from(received), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
