import type { ValueIssue } from "../../../platform/issue-codes.ts";
import type { FetchFailure, FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";

/** One attempt to deliver an event. */
export interface DestinationMessage {
  /** The webhook's full address. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  event_id: string;
  event: string;
  instance_id: number;
  /** Messages of one chat keep their order: the address of the chat, or `instance`. */
  chat: string;
  /** Id of this attempt. */
  attempt_id: string;
  totalMs: number;
  owner: DestinationOwner;
}

/** Who has set the address, which decides what it may reach. */
export type DestinationOwner = "tenant" | "operator";

type Response = Extract<FetchOutcome, { outcome: "response" }>;
type Failure = Extract<FetchOutcome, { outcome: "failed" }>;

/** What came of an attempt. */
export type DeliveryOutcome =
  /** `requestHeaders` only if the gateway's own receiver got it. */
  | (Response & { requestHeaders?: Record<string, string> })
  /** A broker has stored the message. */
  | { outcome: "accepted"; durationMs: number }
  | (Omit<Failure, "failure"> & { failure: FetchFailure | "rejected" });

/** How events reach the addresses of one kind. */
export interface Destination {
  /** The beginnings of its addresses, such as `nats:`. */
  protocols: readonly string[];
  /** Attributes of the span of an attempt. */
  spanAttributes: Readonly<Record<string, string>>;
  /** Why an address cannot be saved, as a message for its owner. */
  findIssue(url: string, owner: DestinationOwner): Promise<ValueIssue | undefined>;
  /** Why a custom header cannot be sent. */
  findHeaderIssue?(name: string): string | undefined;
  /** Sends once. Returns the failures of the receiver; throws only the gateway's own. */
  send(message: DestinationMessage): Promise<DeliveryOutcome>;
  /** Closes every connection. */
  close(): Promise<void>;
}

/** The destination of an address; the first one of the list takes all others. */
export type Destinations = readonly [Destination, ...Destination[]];

export function destinationOf(destinations: Destinations, url: string): Destination {
  const protocol = url.slice(0, url.indexOf(":") + 1).toLowerCase();
  return destinations.find(({ protocols }) => protocols.includes(protocol)) ?? destinations[0];
}
