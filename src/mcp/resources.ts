import type { CallOptions, Client } from "../client.ts";

/** Something that a host can show an assistant without a question. */
export interface Resource {
  uri: string;
  name: string;
  description: string;
  isForeign: boolean;
  read(client: Client, options: CallOptions): Promise<object>;
}

/** As many as a page of the API has at most. */
const NEWEST = { limit: 200 };

export const RESOURCES: readonly Resource[] = [
  {
    uri: "waygate://conversations",
    name: "conversations",
    description: "The conversations of all instances of the account, newest first, 200 at most.",
    isForeign: true,
    read: (client, options) => client.listConversations(NEWEST, options),
  },
  {
    uri: "waygate://instances",
    name: "instances",
    description: "The instances of the account with their status.",
    isForeign: false,
    read: (client, options) => client.listAllInstances(NEWEST, options),
  },
  {
    uri: "waygate://messages",
    name: "messages",
    description: "The messages of all instances of the account, newest first, 200 at most.",
    isForeign: true,
    read: (client, options) => client.listAccountMessages(NEWEST, options),
  },
];
