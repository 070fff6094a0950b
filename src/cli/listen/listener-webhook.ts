import { hostname } from "node:os";
import { type Client, WaygateError } from "../../client/client.ts";
import { CommandError } from "../command-error.ts";
import { readField } from "../read-field.ts";
import { toTerminalText } from "../to-terminal-text.ts";

export interface ListenerWebhookOptions {
  client: Client;
  instanceId: number;
  /** The address of the gateway, for messages. */
  baseUrl: string;
  /** The address at which the gateway reaches the listener. */
  url: string;
  secret: string;
  events: readonly string[];
}

type EventFilter = Parameters<Client["createWebhook"]>[0]["events"];

/** The webhook that a listener has created for itself. */
export interface ListenerWebhook {
  readonly id: number;
  /** How many webhooks of earlier, killed runs were removed. */
  readonly removedStale: number;
  /** Lets the gateway send a test event. Throws CommandError if it does not arrive here. */
  test(hasArrived: (eventId: string) => boolean): Promise<void>;
  remove(): Promise<void>;
}

/** Host and process of a listener, in the name of its webhook. */
const OWN_NAME = /^waygate listen \(([\w.-]{1,63}) (\d{1,10})\)$/;

/** Creates the webhook, and removes those of runs that were killed. Throws CommandError if the address is blocked. */
export async function createListenerWebhook(options: ListenerWebhookOptions): Promise<ListenerWebhook> {
  const { client, instanceId: id, url, secret, events } = options;
  const stale = await findStale(options);
  for (const webhookId of stale) await removeWebhook(client, id, webhookId);
  const name = `waygate listen (${localName()} ${process.pid})`;
  // The gateway checks the names, and lists all of them if one is wrong.
  const filter = [...events] as EventFilter;
  const created = client.createWebhook({ id, name, url, secret, events: filter });
  const { data } = await created.catch((error: unknown) => {
    throw isBlocked(error) ? new CommandError(adviseOnBlocked(url), { cause: error }) : error;
  });
  return {
    id: data.id,
    removedStale: stale.length,
    test: (hasArrived) => testWebhook(options, data.id, hasArrived),
    remove: () => removeWebhook(client, id, data.id),
  };
}

/** Webhooks of a process of this machine that has ended, or at the address that is now this listener's. */
async function findStale({ client, instanceId, url }: ListenerWebhookOptions): Promise<number[]> {
  const { data } = await client.listWebhooks({ id: instanceId });
  return data
    .filter((webhook) => {
      const [, host, pid] = OWN_NAME.exec(webhook.name) ?? [];
      return host !== undefined && (webhook.url === url || (host === localName() && !isAlive(Number(pid))));
    })
    .map((webhook) => webhook.id);
}

function localName(): string {
  return (
    hostname()
      .replace(/[^\w.-]/g, "")
      .slice(0, 63) || "localhost"
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function removeWebhook(client: Client, id: number, webhookId: number): Promise<void> {
  await client.deleteWebhook({ id, webhookId }).catch((error: unknown) => {
    // It, or the whole instance, was removed meanwhile.
    if (!(error instanceof WaygateError) || error.status !== 404) throw error;
  });
}

async function testWebhook(
  { client, instanceId: id, baseUrl, url }: ListenerWebhookOptions,
  webhookId: number,
  hasArrived: (eventId: string) => boolean,
): Promise<void> {
  const { data } = await client.testWebhook({ id, webhookId }).catch((error: unknown) => {
    if (!(error instanceof WaygateError) || error.code !== "SEND_FAILED") throw error;
    const reason = toTerminalText(error.message);
    throw new CommandError(`${reason}\n${adviseOnUnreachable(baseUrl, url)}`, { cause: error });
  });
  if (hasArrived(data.event_id)) return;
  const reason = `The gateway reached another program at ${url}, not this one.`;
  throw new CommandError(`${reason}\n${adviseOnUnreachable(baseUrl, url)}`);
}

/** Whether the gateway refused the address itself. */
function isBlocked(error: unknown): boolean {
  if (!(error instanceof WaygateError) || error.code !== "VALIDATION_ERROR") return false;
  const fields = readField(error.details, "fields");
  return Array.isArray(fields) && fields.some((field) => readField(field, "field") === "url");
}

/** What the operator of the gateway sets so that it may call this address. */
export function adviseOnBlocked(url: string): string {
  const { host, hostname: name, port, protocol } = new URL(url);
  const target = port === "" ? `${host}:${protocol === "https:" ? 443 : 80}` : host;
  const setting = isLoopback(name)
    ? "WAYGATE_LOCAL_TARGETS=on opens this machine to every account"
    : "WAYGATE_ALLOWED_HOSTS opens addresses of your network";
  return [
    `The gateway may not call ${url}.`,
    `Its operator can allow it: ${setting}, and WAYGATE_ALLOWED_HOSTS=external,${target} this address only.`,
    "Without a setting, a gateway calls its own machine while it is not public and the owner's account is the only one.",
  ].join("\n");
}

/** What to do if the gateway cannot reach the listener. */
export function adviseOnUnreachable(baseUrl: string, url: string): string {
  if (!isLoopback(new URL(url).hostname))
    return `Check that ${url} leads to this machine, and that the listener accepts it: --host 0.0.0.0 listens to the network.`;
  const { port, hostname: gateway } = new URL(baseUrl);
  const own = new URL(url).port;
  if (isLoopback(gateway))
    return `Does the gateway on port ${port || 80} run in a container? Then add --host 0.0.0.0 --port ${own} --public-url http://host.docker.internal:${own}/.`;
  return `${url} is on the gateway's own machine. Give the address of this machine, or of a tunnel to it, with --public-url; --host 0.0.0.0 listens to the network.`;
}

export function isLoopback(name: string): boolean {
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
}
