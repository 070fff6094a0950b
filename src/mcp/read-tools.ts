import { z } from "zod";
import { contract } from "../contract.ts";
import { instanceArgument, pageArguments, responseOf, type Tool, tool, withRecipient } from "./tool.ts";

const { q: nameOrDigits } = contract.listContacts.input.shape;
const { q: words, direction } = contract.listMessages.input.shape;
const { q: title } = contract.listConversations.input.shape;

export const READ_TOOLS: readonly Tool[] = [
  tool({
    name: "get_contacts",
    kind: "read",
    isForeign: true,
    description: "List the known contacts of an instance, newest first.",
    input: z.object({ ...instanceArgument, q: nameOrDigits, ...pageArguments }),
    output: responseOf(contract.listContacts),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.listContacts({ id: instanceId(id), ...input }, options),
  }),
  tool({
    name: "get_contact_info",
    kind: "read",
    isForeign: true,
    description: "Read name, about, picture and business data of a contact from the network.",
    input: withRecipient({}),
    output: responseOf(contract.contactInfo),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.contactInfo({ id: instanceId(id), ...input }, options),
  }),
  tool({
    name: "check_recipient",
    kind: "read",
    isForeign: true,
    description: "Check whether a number is on the network, and get its JID.",
    input: withRecipient({}),
    output: responseOf(contract.checkContacts),
    run: ({ client, instanceId, options }, { instanceId: id, number, jid }) =>
      client.checkContacts({ id: instanceId(id), number: jid ?? number }, options),
  }),
  tool({
    name: "get_instances",
    kind: "read",
    isForeign: false,
    description: "List the instances of the account with their status.",
    input: z.object(pageArguments),
    output: responseOf(contract.listAllInstances),
    run: ({ client, options }, input) => client.listAllInstances(input, options),
  }),
  tool({
    name: "get_instance_status",
    kind: "read",
    isForeign: false,
    description: "Get the connection status, the connected identity and the last errors of an instance.",
    input: z.object(instanceArgument),
    output: responseOf(contract.getInstanceStatus),
    run: ({ client, instanceId, options }, { instanceId: id }) =>
      client.getInstanceStatus({ id: instanceId(id) }, options),
  }),
  tool({
    name: "get_conversations",
    kind: "read",
    isForeign: true,
    description:
      "List conversations with their last message and unread count, newest first. Without an instance: of all instances that the key can read.",
    input: z.object({ ...instanceArgument, q: title, ...pageArguments }),
    output: responseOf(contract.listConversations),
    run: ({ client, standardInstance, options }, { instanceId = standardInstance, ...input }) =>
      client.listConversations({ instance_id: instanceId, ...input }, options),
  }),
  tool({
    name: "get_conversation_messages",
    kind: "read",
    isForeign: true,
    description: "List the messages of one conversation, newest first.",
    input: withRecipient(pageArguments),
    output: responseOf(contract.listChatMessages),
    run: ({ client, instanceId, options }, { instanceId: id, number, jid, ...input }) =>
      client.listChatMessages({ id: instanceId(id), jid: jid ?? String(number), ...input }, options),
  }),
  tool({
    name: "get_messages",
    kind: "read",
    isForeign: true,
    description:
      "List or search messages, newest first. Without an instance: of all instances that the key can read.",
    input: z.object({ ...instanceArgument, q: words, direction, ...pageArguments }),
    output: responseOf(contract.listAccountMessages),
    run: ({ client, standardInstance, options }, { instanceId = standardInstance, ...input }) =>
      client.listAccountMessages({ instance_id: instanceId, ...input }, options),
  }),
];
