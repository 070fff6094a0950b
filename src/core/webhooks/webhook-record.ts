import type { Selectable } from "kysely";
import type { DeliveryFailure } from "../../platform/delivery-reasons.ts";
import {
  type EncryptionContext,
  encryptionContextOf,
  type SecretBox,
} from "../../platform/secrets/secret-box.ts";
import { maskUrl } from "../../platform/urls/mask-url.ts";
import type { WebhookTable } from "../../tables.ts";
import { maskPassword } from "./destinations/masked-password.ts";

export type WebhookRow = Selectable<WebhookTable>;

/** Replaces a hidden value; a client that sends it back leaves the value unchanged. */
export const SECRET_MASK = "****";

/** Binds a sealed value to its webhook and column. */
export function webhookEncryptionContext(
  column: "address" | "secret" | "previous_secret" | "headers" | "format_token",
  id: number,
): EncryptionContext {
  return encryptionContextOf("webhook", column, id);
}

/** The webhook in API responses; the full secret appears only right after it was created or changed. */
export function toWebhookRecord(row: WebhookRow, box: SecretBox, { revealSecret = false } = {}) {
  const secret = box.open(row.secret, webhookEncryptionContext("secret", row.id));
  const token = openToken(row, box);
  const headers = Object.keys(openHeaders(row, box)).map((name) => [name, SECRET_MASK]);
  return {
    ...row,
    disabled_error: row.disabled_error as DeliveryFailure | null,
    url: maskPassword(openUrl(row, box)),
    headers: Object.fromEntries(headers) as Record<string, string>,
    secret: revealSecret ? secret : maskSecret(secret),
    format_token: token === null ? null : SECRET_MASK,
    previous_secret_until: isOverlapping(row, new Date()) ? row.previous_until : null,
  };
}

/** The full URL, which may contain a secret; the row's `url` is its masked copy. */
export function openUrl({ id, address }: Pick<WebhookRow, "id" | "address">, box: SecretBox): string {
  return address === null ? "" : box.open(address, webhookEncryptionContext("address", id));
}

/** The URL columns: one sealed, one masked for lists, logs and events. */
export function addressColumns(box: SecretBox, id: number, url: string) {
  return {
    url: url === "" ? "" : maskUrl(url),
    address: url === "" ? null : box.seal(url, webhookEncryptionContext("address", id)),
  };
}

/** The customer's headers, sealed because their values may be credentials. */
export function openHeaders(
  { id, headers }: Pick<WebhookRow, "id" | "headers">,
  box: SecretBox,
): Record<string, string> {
  if (headers === null) return {};
  return JSON.parse(box.open(headers, webhookEncryptionContext("headers", id))) as Record<string, string>;
}

/** The customer's token, sealed; formats of other gateways echo it. */
export function openToken(
  { id, format_token }: Pick<WebhookRow, "id" | "format_token">,
  box: SecretBox,
): string | null {
  return format_token === null ? null : box.open(format_token, webhookEncryptionContext("format_token", id));
}

type Secrets = Pick<WebhookRow, "id" | "secret" | "previous_secret" | "previous_until">;

/** The signing secrets of a delivery: the current one and, for a while after a change, the previous one. */
export function openSecrets(row: Secrets, box: SecretBox, now = new Date()): [string, ...string[]] {
  return [
    box.open(row.secret, webhookEncryptionContext("secret", row.id)),
    ...(isOverlapping(row, now) && row.previous_secret
      ? [box.open(row.previous_secret, webhookEncryptionContext("previous_secret", row.id))]
      : []),
  ];
}

function isOverlapping({ previous_secret, previous_until }: Omit<Secrets, "secret">, now: Date): boolean {
  return previous_secret !== null && previous_until !== null && previous_until > now;
}

/** Shows enough to recognise a secret, and too little to use it. */
export function maskSecret(secret: string): string {
  return `${secret.startsWith("whsec_") ? "whsec_" : ""}${SECRET_MASK}${secret.slice(-4)}`;
}
