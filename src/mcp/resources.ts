import type { CallOptions, Client } from "../client/client.ts";
import { NEWEST_MESSAGES, readPages } from "./read-pages.ts";
import type { ReportProgress } from "./with-progress.ts";

interface ResourceContext {
  readonly client: Client;
  readonly options: CallOptions;
  readonly report: ReportProgress;
}

type Values = Readonly<Record<string, string>>;

/** Data that a host can show an assistant without a tool call. */
export interface Resource {
  /** In a template, `{name}` stands for a value. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly isForeign: boolean;
  read(context: ResourceContext, values: Values): Promise<object>;
}

export const RESOURCES: readonly Resource[] = [
  {
    uri: "waygate://conversations",
    name: "conversations",
    description:
      "The conversations of the key's instance, or of its account if the key can read it. Newest first, at most 5,000.",
    isForeign: true,
    read: ({ client, options, report }) =>
      readPages((page) => client.listConversations(page, options), report),
  },
  {
    uri: "waygate://instances",
    name: "instances",
    description: "The instances of the account with their status.",
    isForeign: false,
    read: ({ client, options, report }) =>
      readPages((page) => client.listAllInstances(page, options), report),
  },
  {
    uri: "waygate://messages",
    name: "messages",
    description:
      "The newest 200 messages of the key's instance, or of its account if the key can read it; fewer if they have more than a million characters. The tool get_messages reads older ones.",
    isForeign: true,
    read: ({ client, options, report }) =>
      readPages((page) => client.listAccountMessages(page, options), report, NEWEST_MESSAGES),
  },
];

export const RESOURCE_TEMPLATES: readonly Resource[] = [
  {
    uri: "waygate://instances/{instanceId}",
    name: "instance",
    description: "The connection status, the connected identity and the last errors of an instance.",
    isForeign: false,
    read: ({ client, options }, { instanceId }) =>
      client.getInstanceStatus({ id: Number(instanceId) }, options),
  },
  {
    uri: "waygate://instances/{instanceId}/conversations",
    name: "instance-conversations",
    description: "The conversations of an instance. Newest first, at most 5,000.",
    isForeign: true,
    read: ({ client, options, report }, { instanceId }) => {
      const instance_id = Number(instanceId);
      return readPages((page) => client.listConversations({ instance_id, ...page }, options), report);
    },
  },
  {
    uri: "waygate://instances/{instanceId}/conversations/{jid}/messages",
    name: "conversation-messages",
    description:
      "The newest 200 messages with a person or a group; fewer if they have more than a million characters. The tool get_conversation_messages reads older ones.",
    isForeign: true,
    read: ({ client, options, report }, { instanceId, jid = "" }) =>
      readPages(
        (page) => client.listChatMessages({ id: Number(instanceId), jid, ...page }, options),
        report,
        NEWEST_MESSAGES,
      ),
  },
  {
    uri: "waygate://instances/{instanceId}/messages/{messageId}",
    name: "message",
    description: "One message with its status, by its `message_id`.",
    isForeign: true,
    read: ({ client, options }, { instanceId, messageId = "" }) =>
      client.getMessage({ id: Number(instanceId), messageId }, options),
  },
];

/** A resource with the values of its address. */
interface FoundResource extends Pick<Resource, "isForeign"> {
  read(context: ResourceContext): Promise<object>;
}

/** The resource at an address, also one that a template describes; undefined if there is none. */
export function findResource(uri: string): FoundResource | undefined {
  for (const resource of [...RESOURCES, ...RESOURCE_TEMPLATES]) {
    const values = matchUri(resource.uri, uri);
    if (values) return { isForeign: resource.isForeign, read: (context) => resource.read(context, values) };
  }
  return undefined;
}

/** The values of a template in an address, decoded; undefined if the address does not fit. */
function matchUri(template: string, uri: string): Values | undefined {
  const expected = template.split("/");
  const parts = uri.split("/");
  if (parts.length !== expected.length) return undefined;
  const values: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const name = expected[at]?.match(/^\{(\w+)\}$/)?.[1];
    const value = name === undefined ? undefined : decode(part);
    if (name !== undefined && value) values[name] = value;
    else if (part !== expected[at]) return undefined;
  }
  return values;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
