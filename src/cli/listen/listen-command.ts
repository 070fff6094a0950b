import { randomBytes } from "node:crypto";
import { type Client, createClient, WaygateError } from "../../client/client.ts";
import { expandEvents } from "../../core/webhooks/contract.ts";
import { findOwnInstance } from "../../mcp/find-own-instance.ts";
import type { Env } from "../../platform/config/config.ts";
import { CleanupStack } from "../../processes/cleanup-stack.ts";
import { CommandError } from "../command-error.ts";
import { readField } from "../read-field.ts";
import { toCommandError } from "../to-command-error.ts";
import { toTerminalJson, toTerminalText } from "../to-terminal-text.ts";
import { describeEvent } from "./describe-event.ts";
import { EventArrivals } from "./event-arrivals.ts";
import { createWebhookForwarder, type WebhookForwarder } from "./forward-webhook.ts";
import { createListenerWebhook, type ListenerWebhook } from "./listener-webhook.ts";
import { type ListenOptionTexts, type ListenSettings, readListenSettings } from "./read-listen-settings.ts";
import { createStopSignal } from "./stop-signal.ts";
import {
  type ListenerResponse,
  startWebhookListener,
  type VerifiedWebhook,
  type WebhookListener,
} from "./webhook-listener.ts";

/** The events of a replay, oldest first. */
interface FoundEvents {
  ids: string[];
  /** Whether there are older ones that the replay leaves out. */
  hasMore: boolean;
}

const PAGE = 200;

const MAX_EVENTS = 1_000;

const ARRIVAL_MS = 20_000;

interface Replay {
  instanceId: number;
  webhookId: number;
  ids: readonly string[];
  arrivals: EventArrivals;
  signal: AbortSignal;
}

/** Events go to standard output, everything else to standard error. */
interface EventPrinter {
  event(webhook: Pick<VerifiedWebhook, "headers" | "event">, isFirst: boolean): void;
  note(text: string): void;
  /** At most one line per second: strangers could fill the terminal. */
  refusal(reason: string): void;
}

interface EventPrinterOptions {
  /** One line of JSON for each event. */
  json: boolean;
  /** The payload below the line of each event. */
  verbose: boolean;
  out?: (line: string) => void;
  err?: (line: string) => void;
  now?: () => Date;
}

const REFUSALS_EVERY_MS = 1_000;

interface WebhookResponder {
  arrivals: EventArrivals;
  printer: EventPrinter;
  /** Absent: every genuine webhook gets 204. */
  forwarder: WebhookForwarder | undefined;
}

/** What the steps of the command share. */
interface Listening {
  settings: ListenSettings;
  printer: EventPrinter;
  arrivals: EventArrivals;
  listener: WebhookListener;
  secret: string;
  undo: CleanupStack;
  signal: AbortSignal;
}

/** Receives webhooks until it is stopped, and removes what it created. Throws UsageError and CommandError. */
export async function runListenCommand(env: Env, texts: ListenOptionTexts): Promise<void> {
  const settings = readListenSettings(env, texts);
  const printer = createEventPrinter(settings);
  const secret = settings.secret ?? `whsec_${randomBytes(24).toString("base64")}`;
  const arrivals = new EventArrivals();
  const undo = new CleanupStack();
  const stop = createStopSignal();
  try {
    const forwarder = settings.forward === undefined ? undefined : createWebhookForwarder(settings.forward);
    if (forwarder) undo.add(() => forwarder.close());
    const listener = await startWebhookListener({
      ...settings,
      secret,
      respond: (webhook) => respondToWebhook({ arrivals, printer, forwarder }, webhook),
      onRefusal: printer.refusal,
    });
    undo.add(() => listener.close());
    await follow({ settings, printer, arrivals, listener, secret, undo, signal: stop.signal });
    await stop.stopped;
  } finally {
    await undo.run();
    stop.release();
  }
}

async function follow(listening: Listening): Promise<void> {
  const { settings, printer, listener } = listening;
  const { gateway } = settings;
  if (gateway === undefined) {
    printer.note(`Listening at ${listener.url} for webhooks with this secret. Ctrl-C ends it.`);
    return;
  }
  const client = createClient(gateway);
  await followGateway(listening, client, gateway).catch((error: unknown) => {
    throw toCommandError(error, gateway.baseUrl);
  });
}

async function followGateway(
  listening: Listening,
  client: Client,
  gateway: NonNullable<ListenSettings["gateway"]>,
): Promise<void> {
  const { settings, printer, arrivals, listener, secret, undo, signal } = listening;
  const instanceId = gateway.instanceId ?? (await findInstance(client, gateway.apiKey));
  const { data: instance } = await client.getInstance({ id: instanceId });
  const url = settings.publicUrl ?? listener.url;
  const { baseUrl } = gateway;
  const options = { client, instanceId, baseUrl, url, secret, events: settings.events };
  const webhook = await createListenerWebhook(options);
  undo.add(() => removeWebhook(webhook, baseUrl));
  if (webhook.removedStale > 0)
    printer.note(`Removed ${webhook.removedStale} webhook(s) of earlier runs that were killed.`);
  await webhook.test((id) => arrivals.has(id));
  printer.note(
    `Listening for the events of instance ${instanceId} (${toTerminalText(instance.name)}, ${instance.status}) at ${url}.`,
  );
  printer.note("Ctrl-C ends it and removes the webhook.");
  if (!instance.webhook_enabled)
    printer.note("Webhooks of this instance are off: set webhook_enabled to true to receive new events.");
  if (!signal.aborted) await replay(listening, client, { instanceId, webhookId: webhook.id });
}

/** Throws CommandError if the key does not show which instance it opens. */
async function findInstance(client: Client, apiKey: string): Promise<number> {
  const found = await findOwnInstance(client, { apiKey, options: {} }).catch((error: unknown) => {
    // The account does not let its keys list instances.
    if (error instanceof WaygateError && error.code === "FORBIDDEN") return undefined;
    throw error;
  });
  if (found !== undefined) return found;
  throw new CommandError(
    "The key does not show which instance it opens. Name it with --instance or WAYGATE_INSTANCE_ID.",
  );
}

async function removeWebhook(webhook: ListenerWebhook, baseUrl: string): Promise<void> {
  await webhook.remove().catch((error: unknown) => {
    const { message } = toCommandError(error, baseUrl);
    throw new CommandError(
      `The webhook ${webhook.id} was not removed; the next listen removes it.\n${message}`,
    );
  });
}

async function replay(
  { settings, printer, arrivals, signal }: Listening,
  client: Client,
  target: { instanceId: number; webhookId: number },
): Promise<void> {
  const { since, events } = settings;
  const found = since && (await findEventsSince(client, { ...target, since, events }));
  if (found?.hasMore) printer.note("There are more events: only the newest 1,000 are replayed.");
  const ids = [...(found?.ids ?? []), ...settings.replay];
  if (ids.length === 0) {
    if (since) printer.note("No event was recorded since then.");
    return;
  }
  printer.note(`Replaying ${ids.length} event(s) ...`);
  const lost = await replayEvents(client, { ...target, ids, arrivals, signal });
  for (const id of lost) printer.note(`${toTerminalText(id)} did not arrive within 20 s.`);
  if (!signal.aborted) printer.note(`Replayed ${ids.length - lost.length} of ${ids.length} event(s).`);
}

/** Prints a genuine webhook, passes it on, and returns the response to the gateway. */
async function respondToWebhook(
  { arrivals, printer, forwarder }: WebhookResponder,
  webhook: VerifiedWebhook,
): Promise<ListenerResponse> {
  const isFirst = arrivals.add(webhook.event);
  // The listener's own test of the way from the gateway to here.
  if (readField(webhook.event, "data", "test") === true) return { status: 204 };
  printer.event(webhook, isFirst);
  if (forwarder === undefined) return { status: 204 };
  const { response, note } = await forwarder.forward(webhook);
  printer.note(note);
  return response;
}

export function createEventPrinter({
  json,
  verbose,
  out = (line) => void process.stdout.write(`${line}\n`),
  err = (line) => void process.stderr.write(`${line}\n`),
  now = () => new Date(),
}: EventPrinterOptions): EventPrinter {
  let refusedAt = Number.NEGATIVE_INFINITY;
  let hidden = 0;
  return {
    event({ headers, event }, isFirst) {
      if (json) return out(toTerminalJson(event));
      const line = describeEvent(event, headers, now());
      out(isFirst ? line : `${line}  (again)`);
      if (verbose) out(toTerminalJson(event, 2));
    },
    note: err,
    refusal(reason) {
      if (now().getTime() - refusedAt < REFUSALS_EVERY_MS) {
        hidden += 1;
        return;
      }
      refusedAt = now().getTime();
      err(`refused with ${toTerminalText(reason)}${hidden === 0 ? "" : ` (and ${hidden} more before it)`}`);
      hidden = 0;
    },
  };
}

/** The newest events since a time that the filter of the webhook includes, at most 1,000. */
async function findEventsSince(
  client: Client,
  { instanceId, since, events }: { instanceId: number; since: Date; events: readonly string[] },
): Promise<FoundEvents> {
  const names = new Set<string>(expandEvents(events));
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await client.listEvents({ id: instanceId, limit: PAGE, cursor });
    const recent = data.filter(({ created_at }) => new Date(created_at) >= since);
    ids.push(...recent.filter(({ event }) => names.has(event)).map(({ event_id }) => event_id));
    const isAtEnd = recent.length < data.length || !pagination.has_more || pagination.next_cursor === null;
    if (isAtEnd || ids.length > MAX_EVENTS)
      return { ids: ids.slice(0, MAX_EVENTS).reverse(), hasMore: ids.length > MAX_EVENTS };
    cursor = pagination.next_cursor ?? undefined;
  }
}

/** Lets the gateway send each event to this webhook alone, one after the other; returns the ids that did not arrive. */
async function replayEvents(client: Client, replay: Replay): Promise<string[]> {
  const { instanceId: id, webhookId: webhook_id, arrivals } = replay;
  const lost: string[] = [];
  for (const eventId of replay.ids) {
    if (replay.signal.aborted) break;
    const event_id = await findEventId(client, id, eventId);
    const arrival = arrivals.next(event_id, ARRIVAL_MS);
    await client.retryEvent({ id, eventId: event_id, webhook_id });
    if (!(await arrival)) lost.push(event_id);
  }
  return lost;
}

/** An event may also be named by its number. */
async function findEventId(client: Client, id: number, eventId: string): Promise<string> {
  if (eventId.startsWith("evt_")) return eventId;
  return (await client.getEvent({ id, eventId })).data.event_id;
}
