import { setTimeout as pause } from "node:timers/promises";
import { type Client, createClient, WaygateError } from "../../client/client.ts";
import { CommandError } from "../command-error.ts";
import { describeEvent } from "../listen/describe-event.ts";
import { createListenerWebhook, type ListenerWebhook } from "../listen/listener-webhook.ts";
import { readField } from "../read-field.ts";
import { toTerminalText } from "../to-terminal-text.ts";
import type { TrySignIn } from "./read-try-settings.ts";
import type { TemporaryGateway } from "./start-temporary-gateway.ts";
import type { VerifiedEvents } from "./verified-events.ts";

const WITHIN_MS = 90_000;

const POLL_MS = 250;

const QR_WITHIN_SECONDS = 30;

const TEXTS = 20;

const OUTCOMES_WITHIN_MS = 120_000;

/** The instance that the command has made. */
export interface TryInstance {
  id: number;
  apiKey: string;
  client: Client;
}

/** Each step prints what it asks of the gateway and what happened. */
export interface TrySteps {
  /** Returns a client of the account. */
  signIn(signIn: TrySignIn): Promise<Client>;
  createInstance(account: Client): Promise<TryInstance>;
  createWebhook(instance: TryInstance): Promise<ListenerWebhook>;
  pair(instance: TryInstance): Promise<void>;
  send(instance: TryInstance): Promise<void>;
  receive(instance: TryInstance): Promise<void>;
  /** Only for a gateway of the command's own. */
  surviveKill(gateway: TemporaryGateway, instance: TryInstance): Promise<void>;
}

export interface TryStepsOptions {
  baseUrl: string;
  /** Where the gateway reaches the receiver. */
  url: string;
  secret: string;
  events: VerifiedEvents;
  signal: AbortSignal;
}

/** A number of the sandbox network that replies. */
export const REPLYING_NUMBER = "5511999990004";
const TEXT = "Hello from waygate try";
const EVENT_WITHIN_MS = 60_000;

export function createTrySteps(options: TryStepsOptions): TrySteps {
  let count = 0;
  /** Stops between two steps; what the steps before have made is known by then. */
  const begin = (title: string): void => {
    options.signal.throwIfAborted();
    count += 1;
    console.log(`\n${count}. ${title}`);
  };
  return {
    async signIn(how) {
      begin("Sign in");
      return signIn(options.baseUrl, how);
    },
    async createInstance(account) {
      begin("Create an instance on the sandbox network, which needs no phone");
      return createInstance(options.baseUrl, account);
    },
    async createWebhook(instance) {
      begin("Create a webhook to a receiver in this program");
      return createWebhook(options, instance);
    },
    async pair({ client, id }) {
      begin("Pair it");
      const phone = await pairSandboxInstance(client, id, options.signal);
      say(
        `POST .../instances/${id}/sandbox/scan: a phone of the sandbox scanned the QR. Connected as +${phone}.`,
      );
    },
    async send({ client, id }) {
      begin("Send a message");
      const startedAt = performance.now();
      const { data } = await client.sendText({ id, number: REPLYING_NUMBER, text: TEXT });
      const took = Math.round(performance.now() - startedAt);
      say(
        `POST .../instances/${id}/send-text: ${data.status} after ${took} ms, with the network's acknowledgement.`,
      );
    },
    async receive() {
      begin("Receive its events, each with a verified signature");
      await receiveEvent(options, "message.sent", TEXT);
      await receiveEvent(options, "message.received", `echo: ${TEXT}`);
    },
    async surviveKill(gateway, instance) {
      begin("Queue texts, kill the gateway, and start it again on the same data");
      say(await surviveKill(gateway, instance, { ...options, number: REPLYING_NUMBER }));
    },
  };
}

async function signIn(baseUrl: string, how: TrySignIn): Promise<Client> {
  if ("token" in how) {
    const account = createClient({ baseUrl, token: how.token });
    const { data } = await account.me();
    say(`GET /api/auth/me: the token is of ${toTerminalText(data.user.email)}.`);
    return account;
  }
  const { token } = await createClient({ baseUrl }).login(how);
  say(`POST /api/auth/login: signed in as ${toTerminalText(how.email)}.`);
  return createClient({ baseUrl, token });
}

async function createInstance(baseUrl: string, account: Client): Promise<TryInstance> {
  const { data } = await account.createInstance({ name: "waygate try", network: "sandbox" });
  say(`POST /api/v1/instances: instance ${data.id}, with an API key that only this response shows.`);
  return { id: data.id, apiKey: data.api_key, client: createClient({ baseUrl, apiKey: data.api_key }) };
}

async function createWebhook(
  { baseUrl, url, secret, events }: TryStepsOptions,
  { client, id }: TryInstance,
): Promise<ListenerWebhook> {
  const names = ["message.sent", "message.received"];
  const webhook = await createListenerWebhook({
    client,
    instanceId: id,
    baseUrl,
    url,
    secret,
    events: names,
  });
  await webhook.test((eventId) => events.arrivals.has(eventId));
  say(`POST .../instances/${id}/webhooks: ${names.join(" and ")} go to ${url}. A test event has arrived.`);
  return webhook;
}

async function receiveEvent({ events, signal }: TryStepsOptions, name: string, text: string): Promise<void> {
  const isIt = (event: unknown): boolean =>
    readField(event, "event") === name && readField(event, "data", "message", "text") === text;
  const found = await events.find(isIt, { withinMs: EVENT_WITHIN_MS, signal });
  signal.throwIfAborted();
  if (found === undefined)
    throw new CommandError(`The event ${name} did not arrive within ${EVENT_WITHIN_MS / 1000} s.`);
  say(`${describeEvent(found.event, found.headers, new Date())}`);
}

function say(text: string): void {
  console.log(`   ${text}`);
}

/**
 * Queues texts, kills the gateway, starts it again, and waits until each text has its outcome. Throws CommandError if a
 * text has none, or two.
 */
async function surviveKill(
  gateway: TemporaryGateway,
  { client, id }: { client: Client; id: number },
  { number, events, signal }: { number: string; events: VerifiedEvents; signal: AbortSignal },
): Promise<string> {
  const texts = Array.from({ length: TEXTS }, (_, n) => `Queued text ${n + 1}`);
  const accepted = await Promise.all(texts.map((text) => client.sendText({ id, number, text, async: true })));
  const pid = await gateway.killAndRestart();
  for (const { jobId } of accepted) {
    const isOutcome = (event: unknown): boolean => readField(event, "data", "jobId") === jobId;
    const found = await events.find(isOutcome, { withinMs: OUTCOMES_WITHIN_MS, signal });
    signal.throwIfAborted();
    if (found === undefined) throw new CommandError("An accepted text has no outcome.");
    if (events.count(isOutcome) > 1) throw new CommandError("An accepted text has two outcomes.");
  }
  return `${TEXTS} texts were accepted with 202, and kill -9 ended process ${pid}. After the restart each has one outcome.`;
}

/** Lets a phone of the sandbox network scan the instance's QR; returns its number once it is connected. */
async function pairSandboxInstance(client: Client, id: number, signal: AbortSignal): Promise<string> {
  const deadline = performance.now() + WITHIN_MS;
  await client.connectInstance({ id, wait_seconds: QR_WITHIN_SECONDS });
  while (!signal.aborted && performance.now() < deadline) {
    const { connected, phone, status } = (await client.getInstanceStatus({ id })).data;
    if (connected && phone !== null) return phone;
    if (status === "qr_pending") await scan(client, id);
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
  }
  signal.throwIfAborted();
  throw new CommandError(
    `The instance was not connected within ${WITHIN_MS / 1000} s. The log of the gateway says why.`,
  );
}

/** A busy machine may replace the QR during the scan; the next status shows what became of it. */
async function scan(client: Client, id: number): Promise<void> {
  await client.sandboxScan({ id }).catch((error: unknown) => {
    const isPassing = error instanceof WaygateError && /^(CONNECT_FAILED|CONFLICT)$/.test(error.code);
    if (!isPassing) throw error;
  });
}
