import { sql } from "kysely";
import { addLane } from "../../engine/lane-store.ts";
import type { Trx } from "../../platform/db/database.ts";
import { GatewayError, invalidField, invalidFields } from "../../platform/gateway-error.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { parseUrlOrigin } from "../../platform/urls/parse-url-origin.ts";
import { createWebhookSecret } from "../instances/instances.ts";
import { expandEvents, isMaskedSecret, type WebhookFormat } from "./contract.ts";
import { type DestinationOwner, type Destinations, destinationOf } from "./destinations/destination.ts";
import { hasMaskedPassword, withPasswordOf } from "./destinations/masked-password.ts";
import { type EventFormats, supportedEvents } from "./event-formats.ts";
import { selectWebhooks } from "./find-webhook.ts";
import {
  addressColumns,
  openHeaders,
  openUrl,
  SECRET_MASK,
  type WebhookRow,
  webhookEncryptionContext,
} from "./webhook-record.ts";

interface WebhookOptions {
  is_active?: boolean;
  retry_enabled?: boolean;
  max_attempts?: number;
  headers?: Record<string, string>;
  exclude?: string[];
  ordering?: WebhookRow["ordering"];
  format?: WebhookFormat;
  format_token?: string | null;
}

export interface NewWebhook extends WebhookOptions {
  instance_id: number;
  account_id: number;
  name: string;
  url: string;
  events: string[];
  secret: string;
  is_default?: boolean;
}

/** What seals a webhook's secrets, and the formats and addresses that it may have. */
export interface SavedWith {
  box: SecretBox;
  formats: EventFormats;
  destinations: Destinations;
}

const MAX_WEBHOOKS_PER_INSTANCE = 50;

/** Rejects a URL that the outgoing policy blocks or its destination cannot use, since every delivery would fail. */
export async function requireAllowedUrl(
  destinations: Destinations,
  url: string | undefined,
  owner: DestinationOwner = "tenant",
): Promise<void> {
  const issue = url ? await destinationOf(destinations, url).findIssue(url, owner) : undefined;
  if (issue) throw invalidFields([{ field: "url", ...issue }]);
}

/** Inserts a webhook and its lane; the caller has locked the instance. */
export async function insertWebhook(
  trx: Trx,
  { box, formats, destinations }: SavedWith,
  webhook: NewWebhook,
): Promise<WebhookRow> {
  await requireWebhookQuota(trx, webhook.instance_id);
  const id = await nextWebhookId(trx);
  const lane = await addLane(trx, "webhook", String(id));
  const { url, events, secret, headers, format_token, ...columns } = webhook;
  if (hasMaskedPassword(url)) throw maskedPassword();
  requireSendableHeaders(destinations, url, headers);
  return trx
    .insertInto("webhook")
    .values({
      ...columns,
      ...addressColumns(box, id, url),
      id,
      lane,
      events,
      event_names: namesFor(formats, columns.format ?? "native", events),
      secret: box.seal(secret, webhookEncryptionContext("secret", id)),
      headers: sealHeaders(box, id, headers),
      format_token: sealToken(box, id, format_token),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Reserved before the insert, since the sealed values contain the id. */
export async function nextWebhookId(trx: Trx): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval('webhook_id_seq') as id`.execute(trx);
  return Number(rows[0]?.id);
}

/** The events that a webhook of this format receives. Throws for a name without counterpart in the format. */
function namesFor(formats: EventFormats, format: WebhookFormat, events: readonly string[]): string[] {
  const named = events.filter((name) => !name.endsWith("*"));
  const known = supportedEvents(formats, format, named);
  const lacking = named.find((name) => !known.includes(name));
  if (lacking !== undefined)
    throw invalidField("events", `${lacking} is not supported by the format ${format}`, "not_supported", {
      value: lacking,
      format,
    });
  const names = supportedEvents(formats, format, expandEvents(events));
  if (names.length === 0)
    throw invalidField("events", `has no event that the format ${format} supports`, "not_supported", {
      format,
    });
  return names;
}

function sealToken(box: SecretBox, id: number, token: string | null | undefined): Buffer | null {
  return token === null || token === undefined
    ? null
    : box.seal(token, webhookEncryptionContext("format_token", id));
}

async function requireWebhookQuota(trx: Trx, instanceId: number): Promise<void> {
  const there = await selectWebhooks(trx, instanceId).limit(MAX_WEBHOOKS_PER_INSTANCE).execute();
  if (there.length < MAX_WEBHOOKS_PER_INSTANCE) return;
  throw new GatewayError(
    "QUOTA_EXCEEDED",
    `An instance can have at most ${MAX_WEBHOOKS_PER_INSTANCE} webhooks. Delete one first.`,
    {
      details: { limit: MAX_WEBHOOKS_PER_INSTANCE },
    },
  );
}

function sealHeaders(box: SecretBox, id: number, headers: Record<string, string> | undefined): Buffer | null {
  if (headers === undefined || Object.keys(headers).length === 0) return null;
  return box.seal(JSON.stringify(headers), webhookEncryptionContext("headers", id));
}

export interface WebhookChange extends WebhookOptions {
  name?: string;
  url?: string;
  events?: string[];
  secret?: string;
  rotate_secret?: boolean;
  overlap_seconds: number;
}

/** Changes fields of a locked webhook. The default webhook shares the instance's secret, so both change. */
export async function changeWebhook(
  trx: Trx,
  { box, formats, destinations }: SavedWith,
  row: WebhookRow,
  change: WebhookChange,
): Promise<WebhookRow> {
  const { secret: _, rotate_secret: __, overlap_seconds, events: ___, ...rest } = change;
  const { url: requested, headers, format_token, ...columns } = rest;
  const url = requested && withStoredPassword(requested, row, box);
  requireCredentialsForOrigin(row, box, change);
  requireSendableHeaders(destinations, url ?? openUrl(row, box), headers);
  const secret = newSecretOf(change);
  if (secret && row.is_default && row.instance_id !== null) {
    await trx
      .updateTable("instance")
      .set({
        webhook_secret: box.seal(secret, encryptionContextOf("instance", "webhook_secret", row.instance_id)),
      })
      .where("id", "=", row.instance_id)
      .execute();
  }
  const isOtherReceiver = url !== undefined && url !== openUrl(row, box);
  return trx
    .updateTable("webhook")
    .set({
      ...columns,
      ...filterOf(formats, row, change),
      ...(format_token !== undefined &&
        format_token !== SECRET_MASK && { format_token: sealToken(box, row.id, format_token) }),
      ...(headers && { headers: sealHeaders(box, row.id, withoutMasks(headers, row, box)) }),
      ...(secret && rotation(box, row, secret, overlap_seconds)),
      ...(isOtherReceiver && { ...addressColumns(box, row.id, url), ...HEALTHY }),
      ...(change.is_active && { ...HEALTHY, disabled_reason: null, disabled_error: null, disabled_at: null }),
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

function maskedPassword(): GatewayError {
  return invalidField(
    "url",
    "has a masked password, and none is stored for this user and host; send the password itself",
    "send_again",
  );
}

/** A masked password stays the stored one, if user and host do. */
function withStoredPassword(url: string, row: WebhookRow, box: SecretBox): string {
  if (!hasMaskedPassword(url)) return url;
  const whole = withPasswordOf(openUrl(row, box), url);
  if (whole === undefined) throw maskedPassword();
  return whole;
}

/** Rejects a header that the destination of the URL cannot send. */
function requireSendableHeaders(
  destinations: Destinations,
  url: string,
  headers: Record<string, string> | undefined,
): void {
  const destination = destinationOf(destinations, url);
  for (const name of Object.keys(headers ?? {})) {
    const issue = destination.findHeaderIssue?.(name);
    if (issue) throw invalidField(`headers.${name}`, issue, "not_allowed_here");
  }
}

/** Prevents that stored credentials go to another origin: the request must contain them again. */
function requireCredentialsForOrigin(row: WebhookRow, box: SecretBox, change: WebhookChange): void {
  const { url = "", headers, format_token } = change;
  if (url === "" || parseUrlOrigin(url) === parseUrlOrigin(row.url)) return;
  const names = Object.keys(openHeaders(row, box));
  if (headers === undefined && names.length > 0)
    throw invalidField(
      "headers",
      `must be sent again when the address changes (${names.join(", ")}); send {} for none`,
      "send_again",
    );
  const masked = Object.entries(headers ?? {}).find(([, value]) => value === SECRET_MASK);
  if (masked)
    throw invalidField(`headers.${masked[0]}`, "must be sent again when the address changes", "send_again");
  const isUnchanged =
    row.format_token !== null && (format_token === undefined || format_token === SECRET_MASK);
  if (isUnchanged)
    throw invalidField(
      "format_token",
      "must be sent again when the address changes; send null for none",
      "send_again",
    );
}

/** The filter depends on the format, so that events without a counterpart are not queued. */
function filterOf(formats: EventFormats, row: WebhookRow, { events, format }: WebhookChange) {
  if (!events && !format) return {};
  const filter = events ?? row.events;
  return { events: filter, event_names: namesFor(formats, format ?? row.format, filter) };
}

type SecretChange = Pick<WebhookChange, "secret" | "rotate_secret">;

/** Whether a change sets a new secret, which the response must show. */
export function createsSecret({ secret, rotate_secret }: SecretChange): boolean {
  return rotate_secret === true || (secret !== undefined && !isMaskedSecret(secret));
}

function newSecretOf(change: SecretChange): string | undefined {
  if (!createsSecret(change)) return undefined;
  const requested = change.secret;
  return requested === undefined || isMaskedSecret(requested) ? createWebhookSecret() : requested;
}

function withoutMasks(
  requested: Record<string, string>,
  row: WebhookRow,
  box: SecretBox,
): Record<string, string> {
  const before = Object.values(requested).includes(SECRET_MASK) ? openHeaders(row, box) : {};
  const merged = Object.entries(requested).map(([name, value]) => {
    if (value !== SECRET_MASK) return [name, value];
    const known = before[name];
    if (known === undefined)
      throw invalidField(
        `headers.${name}`,
        "is masked, but no value is stored; send the value itself",
        "send_again",
      );
    return [name, known];
  });
  return Object.fromEntries(merged) as Record<string, string>;
}

/** The old secret also signs for a while; the same secret again is no change. */
function rotation(box: SecretBox, row: WebhookRow, secret: string, seconds: number) {
  const before = box.open(row.secret, webhookEncryptionContext("secret", row.id));
  if (before === secret) return {};
  return {
    secret: box.seal(secret, webhookEncryptionContext("secret", row.id)),
    previous_secret: box.seal(before, webhookEncryptionContext("previous_secret", row.id)),
    previous_until: sql<Date>`now() + ${seconds} * interval '1 second'`,
  };
}

/** The state of a receiver that has not failed. */
const HEALTHY = { failing_since: null, failed_events: 0, warned_at: null, last_error_class: null };
