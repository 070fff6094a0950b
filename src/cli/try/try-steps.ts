import { type Client, createClient } from "../../client/client.ts";
import { CommandError } from "../command-error.ts";
import { describeEvent } from "../listen/describe-event.ts";
import { createListenerWebhook, type ListenerWebhook } from "../listen/listener-webhook.ts";
import { readField } from "../read-field.ts";
import { toTerminalText } from "../to-terminal-text.ts";
import { pairSandboxInstance } from "./pair-sandbox-instance.ts";
import type { TrySignIn } from "./read-try-settings.ts";
import type { TemporaryGateway } from "./start-temporary-gateway.ts";
import { surviveKill } from "./survive-kill.ts";
import type { VerifiedEvents } from "./verified-events.ts";

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
