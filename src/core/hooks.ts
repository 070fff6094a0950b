import type { Selectable } from "kysely";
import type { NetworkDriver } from "../network/driver.ts";
import type { NodeRpcHandlers } from "../platform/nodes/add-node-rpc-route.ts";
import type { ErasureLogTable } from "../tables.ts";
import type { AssistantFinder } from "./accounts/access/authorise.ts";
import type { ExtensionFindings } from "./health/find-blockers.ts";
import type { InboundFollower } from "./messages/inbound/apply-inbound-messages.ts";
import type { FindQuickReply } from "./messages/send/prepare-send.ts";
import type { OutcomeFollower } from "./messages/send/record-outcome.ts";
import type { DefaultRetention } from "./retention/retention-jobs.ts";
import type { FindNetworkData } from "./sessions/delete-network-copies.ts";
import type { NetworkFollower } from "./sessions/session-event-recorder.ts";
import type { Destination } from "./webhooks/destinations/destination.ts";
import type { EventFormats } from "./webhooks/event-formats.ts";

/** Other programs that know an instance and are told of its removal. */
export interface InstanceEnd {
  /** Resolves when they have the events of the instance, or after the timeout. */
  report(instanceId: number, timeoutMs: number): Promise<void>;
  unregister(instanceId: number): Promise<void>;
}

/** What one extension adds to core, made from the parts of a running gateway. */
export interface CoreHooksPart {
  /** The formats of other gateways in which webhooks can receive events. */
  webhookFormats?: EventFormats;
  /** Addresses beside http and https that webhooks can have. */
  destination?: Destination;
  findQuickReply?: FindQuickReply;
  outcomeFollower?: OutcomeFollower;
  inboundFollower?: InboundFollower;
  networkFollower?: NetworkFollower;
  assistants?: AssistantFinder;
  retention?: DefaultRetention;
  instanceEnd?: InstanceEnd;
  /** What it finds for `/health`. */
  findings?: ExtensionFindings;
  network?: NetworkDriver;
  networkData?: FindNetworkData;
  repeatErasure?: RepeatErasure;
  /** Where `/` leads browsers. */
  homePath?: string;
  /** What other nodes may request from this one, by name. */
  nodeRequests?: NodeRpcHandlers;
}

/** Repeats an entry of the erasure log that a restored backup has brought back. */
export type RepeatErasure = (
  entry: Pick<Selectable<ErasureLogTable>, "account_id" | "scope" | "subject">,
) => Promise<void>;

type Single = "findQuickReply" | "assistants" | "networkData" | "repeatErasure" | "homePath";

/** What all extensions of this gateway add; empty without them. */
export interface CoreHooks extends Pick<CoreHooksPart, Single> {
  webhookFormats: EventFormats;
  destinations: readonly Destination[];
  outcomeFollowers: readonly OutcomeFollower[];
  inboundFollowers: readonly InboundFollower[];
  networkFollowers: readonly NetworkFollower[];
  retention: readonly DefaultRetention[];
  instanceEnds: readonly InstanceEnd[];
  findings: readonly ExtensionFindings[];
  networks: readonly NetworkDriver[];
  nodeRequests: NodeRpcHandlers;
}

/** What stays while the extension is switched off: it protects or deletes what was stored. */
export function keepData(part: CoreHooksPart): CoreHooksPart {
  const { webhookFormats, outcomeFollower, inboundFollower, retention } = part;
  const { instanceEnd, networkData, repeatErasure } = part;
  return {
    // Webhooks that have the format still get their events.
    ...(webhookFormats && { webhookFormats }),
    ...(outcomeFollower && { outcomeFollower }),
    ...(inboundFollower && { inboundFollower }),
    ...(retention && { retention }),
    ...(instanceEnd && { instanceEnd }),
    ...(networkData && { networkData }),
    ...(repeatErasure && { repeatErasure }),
  };
}

export function joinHooks(parts: readonly CoreHooksPart[]): CoreHooks {
  const joined: CoreHooksPart = Object.assign({}, ...parts);
  const { findQuickReply, assistants, networkData, repeatErasure, homePath } = joined;
  return {
    ...(findQuickReply && { findQuickReply }),
    ...(assistants && { assistants }),
    ...(networkData && { networkData }),
    ...(repeatErasure && { repeatErasure }),
    ...(homePath !== undefined && { homePath }),
    webhookFormats: Object.assign({}, ...parts.map(({ webhookFormats }) => webhookFormats)),
    destinations: parts.flatMap(({ destination }) => destination ?? []),
    outcomeFollowers: parts.flatMap(({ outcomeFollower }) => outcomeFollower ?? []),
    inboundFollowers: parts.flatMap(({ inboundFollower }) => inboundFollower ?? []),
    networkFollowers: parts.flatMap(({ networkFollower }) => networkFollower ?? []),
    retention: parts.flatMap(({ retention }) => retention ?? []),
    instanceEnds: parts.flatMap(({ instanceEnd }) => instanceEnd ?? []),
    findings: parts.flatMap(({ findings }) => findings ?? []),
    networks: parts.flatMap(({ network }) => network ?? []),
    nodeRequests: Object.assign({}, ...parts.map(({ nodeRequests }) => nodeRequests)),
  };
}
