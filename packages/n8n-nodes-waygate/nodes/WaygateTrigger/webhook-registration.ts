/** A webhook of the instance, as the gateway lists it. */
export interface ListedWebhook {
  id: number;
  url: string;
  is_active: boolean;
  events: readonly string[];
  exclude: readonly string[];
  /** Masked: its last four characters are right. */
  secret: string;
}

/** What the trigger registers. */
export interface WantedWebhook {
  url: string;
  events: readonly string[];
  exclude: readonly string[];
}

/** What the trigger keeps between its activation and its deactivation. */
export interface KeptWebhook {
  webhookId?: number;
  secret?: string;
}

/** Whether the gateway still has the webhook of this trigger as the trigger wants it. */
export function isRegistered(
  listed: readonly ListedWebhook[],
  wanted: WantedWebhook,
  { webhookId, secret = "" }: KeptWebhook,
): boolean {
  const found = listed.find(({ id }) => id === webhookId);
  return (
    found !== undefined &&
    secret !== "" &&
    found.is_active &&
    found.url === wanted.url &&
    found.secret.slice(-4) === secret.slice(-4) &&
    isSameSet(found.events, wanted.events) &&
    isSameSet(found.exclude, wanted.exclude)
  );
}

/** The webhooks of earlier activations: the kept one, and those with the address of this trigger. */
export function leftovers(
  listed: readonly ListedWebhook[],
  { url }: WantedWebhook,
  { webhookId }: KeptWebhook,
): number[] {
  return listed.filter((one) => one.id === webhookId || one.url === url).map(({ id }) => id);
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}
