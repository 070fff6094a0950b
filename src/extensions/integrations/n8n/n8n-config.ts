import { z } from "zod";
import { EVENT_NAMES } from "../../../core/events/contract.ts";
import { httpUrl } from "../../../core/webhooks/contract.ts";
import { rule } from "../../../platform/issue-codes.ts";
import { boundedText } from "../../../platform/text/bounded-text.ts";
import { replyLimitFields } from "../reply-limit.ts";

const visible = boundedText(4096).regex(/^[\t\x20-\x7e]+$/, "may contain only visible ASCII characters");

/** Headers that a delivery sets itself, or that belong to one hop. */
const RESERVED =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|content-.*|user-agent|x-waygate-.*|webhook-.*)$/i;

export const n8nConfig = z
  .object({
    webhook_url: httpUrl,
    token: visible.optional(),
    /** Absent: `bearer` if there is a token. */
    auth: z.enum(["none", "header", "bearer", "basic", "jwt"]).optional(),
    header_name: boundedText(100)
      .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, "is not the name of a header")
      .refine(
        (name) => !RESERVED.test(name),
        rule("is a header that the gateway sets itself", "not_allowed_here"),
      )
      .default("Authorization"),
    events: z.array(z.enum(EVENT_NAMES, "is not the name of an event")).max(60).default(["message.received"]),
    include_from_me: z.boolean().default(false),
    include_groups: z.boolean().default(true),
    timeout_ms: z.number().int().min(1_000).max(60_000).optional(),
    reply_mode: z.enum(["none", "response"]).default("none"),
    retry: z.boolean().default(true),
    ...replyLimitFields,
    media: z.enum(["url", "base64", "none"]).default("url"),
  })
  .refine(({ auth, token }) => auth === undefined || auth === "none" || token !== undefined, {
    path: ["token"],
    ...rule("is required for this kind of auth", "missing"),
  });

export type N8nConfig = z.output<typeof n8nConfig>;

export const N8N_ALIASES = {
  webhook_url: ["webhookUrl", "url"],
  header_name: ["headerName"],
  include_from_me: ["includeFromMe"],
  include_groups: ["includeGroups"],
  timeout_ms: ["timeoutMs"],
  reply_mode: ["replyMode"],
};

/** The header that authenticates the gateway to n8n; none without a token. */
export function authHeader({ token, auth = "bearer", header_name }: N8nConfig): Record<string, string> {
  if (token === undefined || auth === "none") return {};
  if (auth === "header") return { [header_name.toLowerCase()]: token };
  if (auth === "basic") return { authorization: `Basic ${Buffer.from(token, "utf8").toString("base64")}` };
  return { authorization: `Bearer ${token}` };
}
