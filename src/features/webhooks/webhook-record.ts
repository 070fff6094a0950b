import type { Selectable } from "kysely";
import type { SecretBox } from "../../platform/secret-box.ts";
import type { WebhookTable } from "../../tables.ts";

export type WebhookRow = Selectable<WebhookTable>;

/** Stands for a value that is not shown; sent back, it means "as it is". */
export const MASK = "****";

/** The webhook as the API shows it; the secret in full only where it has just been made or changed. */
export function toWebhookRecord(row: WebhookRow, box: SecretBox, { revealSecret = false } = {}) {
  const secret = box.open(row.secret);
  const token = openToken(row, box);
  const headers = Object.keys(openHeaders(row, box)).map((name) => [name, MASK]);
  return {
    ...row,
    headers: Object.fromEntries(headers) as Record<string, string>,
    secret: revealSecret ? secret : maskSecret(secret),
    format_token: token === null ? null : MASK,
  };
}

/** The customer's own headers; their values may be credentials, so they are sealed. */
export function openHeaders(
  { headers }: Pick<WebhookRow, "headers">,
  box: SecretBox,
): Record<string, string> {
  return headers === null ? {} : (JSON.parse(box.open(headers)) as Record<string, string>);
}

/** What formats of other gateways echo; the customer's own, so it is sealed. */
export function openToken({ format_token }: Pick<WebhookRow, "format_token">, box: SecretBox): string | null {
  return format_token === null ? null : box.open(format_token);
}

type Secrets = Pick<WebhookRow, "secret" | "previous_secret" | "previous_until">;

/** What a delivery is signed with: the secret, and for a while after a change the one before. */
export function openSecrets(row: Secrets, box: SecretBox, now = new Date()): [string, ...string[]] {
  const isOverlapping =
    row.previous_secret !== null && row.previous_until !== null && row.previous_until > now;
  return [
    box.open(row.secret),
    ...(isOverlapping && row.previous_secret ? [box.open(row.previous_secret)] : []),
  ];
}

/** Enough to recognise a secret, too little to use it. */
export function maskSecret(secret: string): string {
  return `${secret.startsWith("whsec_") ? "whsec_" : ""}${MASK}${secret.slice(-4)}`;
}
