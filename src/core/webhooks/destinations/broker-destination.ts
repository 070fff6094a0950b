import { createHash } from "node:crypto";
import { type ValueIssue, valueIssue } from "../../../platform/issue-codes.ts";
import { classifyFetchFailure } from "../../../platform/outgoing/classify-fetch-failure.ts";
import type { SafeFetch } from "../../../platform/outgoing/safe-fetch.ts";
import { cleanText } from "../../../platform/text/clean-text.ts";
import { type BrokerAddress, InvalidAddressError } from "./broker-address.ts";
import { type BrokerConnection, BrokerConnections, BrokerRefusal } from "./broker-connections.ts";
import type { DeliveryOutcome, Destination, DestinationMessage, DestinationOwner } from "./destination.ts";

/** What one kind of broker adds: its addresses, and its client. */
export interface Broker<Address extends BrokerAddress> {
  /** Its name in errors. */
  name: string;
  /** Its name in traces. */
  system: string;
  protocols: readonly string[];
  /** Throws InvalidAddressError. */
  parse(url: string): Address;
  /** What stands before the words of each subject or routing key; undefined: nothing. */
  prefixOf(address: Address): string | undefined;
  findHeaderIssue(name: string): string | undefined;
  /** What distinguishes connections beside host, credentials and path. */
  connect(address: Address, ip: string, signal: AbortSignal): Promise<BrokerConnection>;
}

const SAVE_LOOKUP_MS = 3_000;
const LONGEST_REFUSAL = 300;

/** Publishes each event as one message, and waits until the broker confirms that it has stored it. */
export function createBrokerDestination<Address extends BrokerAddress>(
  outgoing: SafeFetch,
  broker: Broker<Address>,
): Destination {
  const connections = new BrokerConnections();
  return {
    protocols: broker.protocols,
    spanAttributes: { "messaging.system": broker.system, "messaging.operation.name": "publish" },
    findHeaderIssue: (name) => broker.findHeaderIssue(name),
    findIssue: (url, owner) => findIssue(outgoing, broker, url, owner),
    send: (message) => send({ outgoing, broker, connections }, message),
    close: async () => connections.close(),
  };
}

async function findIssue<Address extends BrokerAddress>(
  outgoing: SafeFetch,
  broker: Broker<Address>,
  url: string,
  owner: DestinationOwner,
): Promise<ValueIssue | undefined> {
  try {
    const { policyUrl } = broker.parse(url);
    const found = await outgoing.resolve({ url: policyUrl, totalMs: SAVE_LOOKUP_MS, policyKey: owner });
    // A name that does not resolve now may do so later.
    const isRefused = found.outcome === "failed" && ["blocked", "invalid_url"].includes(found.failure);
    return isRefused ? valueIssue(explain(broker, found).error, "blocked_address") : undefined;
  } catch (error) {
    if (error instanceof InvalidAddressError) return valueIssue(error.message, "wrong_format");
    throw error;
  }
}

interface Sender<Address extends BrokerAddress> {
  outgoing: SafeFetch;
  broker: Broker<Address>;
  connections: BrokerConnections;
}

async function send<Address extends BrokerAddress>(
  { outgoing, broker, connections }: Sender<Address>,
  message: DestinationMessage,
): Promise<DeliveryOutcome> {
  const began = performance.now();
  const durationMs = () => Math.round(performance.now() - began);
  const { url, owner, instance_id, totalMs } = message;
  try {
    const address = broker.parse(url);
    const open = async (signal: AbortSignal) => {
      const tenant = { instance_id };
      const found = await outgoing.resolve({ url: address.policyUrl, totalMs, policyKey: owner, tenant });
      if (found.outcome === "failed") throw new UnreachableError(explain(broker, found));
      return connectToAny(broker, address, found.addresses, signal);
    };
    const published = { ...message, topic: topicOf(broker.prefixOf(address), message) };
    const { topic, headers, body, event_id: id, attempt_id: attemptId } = published;
    const key = createHash("sha256").update(`${owner} ${url}`).digest("base64");
    await connections.publish(key, open, { topic, id, attemptId, headers, body }, totalMs);
    return { outcome: "accepted", durationMs: durationMs() };
  } catch (error) {
    return { outcome: "failed", ...failureOf(broker, error), durationMs: durationMs() };
  }
}

type Failed = Pick<Extract<DeliveryOutcome, { outcome: "failed" }>, "failure" | "error">;

/** The address did not pass the outgoing policy, or its name has no address. */
class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  readonly failed: Failed;

  constructor(failed: Failed) {
    super(failed.error);
    this.failed = failed;
  }
}

/** Dials the resolved addresses in turn, so that no name is resolved a second time. */
async function connectToAny<Address extends BrokerAddress>(
  broker: Broker<Address>,
  address: Address,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<BrokerConnection> {
  let failure: unknown;
  for (const ip of ips) {
    try {
      return await broker.connect(address, ip, signal);
    } catch (error) {
      if (signal.aborted || error instanceof BrokerRefusal) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** `prefix.17.message.received.5511999990004@s_whatsapp_net`: the chat is one word at the end. */
function topicOf(
  prefix: string | undefined,
  { instance_id, event, chat }: Pick<DestinationMessage, "instance_id" | "event" | "chat">,
): string {
  const word = chat.replace(/[^\w@-]/g, "_").slice(0, LONGEST_CHAT);
  return [...(prefix === undefined ? [] : [prefix]), instance_id, event, word].join(".");
}

const LONGEST_CHAT = 64;

function failureOf<Address extends BrokerAddress>(broker: Broker<Address>, error: unknown): Failed {
  if (error instanceof UnreachableError) return error.failed;
  if (error instanceof InvalidAddressError)
    return { failure: "invalid_url", error: `The address ${error.message}.` };
  if (error instanceof BrokerRefusal) {
    const words = cleanText(error.message).slice(0, LONGEST_REFUSAL);
    return { failure: "rejected", error: `${broker.name} rejected the event: ${words}` };
  }
  return explain(broker, classifyFetchFailure(error));
}

/** The words of requests that are wrong for a broker. */
function explain(
  { name, protocols }: Pick<Broker<BrokerAddress>, "name" | "protocols">,
  failed: Failed,
): Failed {
  const { failure, error } = failed;
  if (failure === "protocol")
    return {
      failure,
      error: `What responds at this address is no ${name} server, or its response is not valid.`,
    };
  // Of an address that was read, only the lack of TLS is left.
  if (failure === "invalid_url")
    return {
      failure,
      error: `The address must begin with ${protocols.at(-1)}//: this gateway sends only with TLS.`,
    };
  return { failure, error };
}
