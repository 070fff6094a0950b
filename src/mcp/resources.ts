import type { CallOptions, Client } from "../client/client.ts";
import { readPages } from "./read-pages.ts";

/** Data that a host can show an assistant without a tool call. */
export interface Resource {
  uri: string;
  name: string;
  description: string;
  isForeign: boolean;
  read(client: Client, options: CallOptions): Promise<object>;
}

export const RESOURCES: readonly Resource[] = [
  {
    uri: "waygate://conversations",
    name: "conversations",
    description:
      "The conversations of the key's instance, or of its account if the key can read it. Newest first, at most 5,000.",
    isForeign: true,
    read: (client, options) => readPages((page) => client.listConversations(page, options)),
  },
  {
    uri: "waygate://instances",
    name: "instances",
    description: "The instances of the account with their status.",
    isForeign: false,
    read: (client, options) => readPages((page) => client.listAllInstances(page, options)),
  },
  {
    uri: "waygate://messages",
    name: "messages",
    description:
      "The newest 200 messages of the key's instance, or of its account if the key can read it. The tool get_messages reads older ones.",
    isForeign: true,
    read: (client, options) => client.listAccountMessages({ limit: 200 }, options),
  },
];
