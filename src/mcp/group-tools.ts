import { z } from "zod";
import { contract } from "../contract.ts";
import { instanceArgument, pageArguments, responseOf, type Tool, tool } from "./tool.ts";

const { name, participants: people } = contract.createGroup.input.shape;
/** Without the objects that the route reads for other gateways: only their `id` counts there. */
const participants = z
  .array(contract.contactInfo.input.shape.number.unwrap())
  .min(1, "must name at least one person")
  .describe(people.description ?? "");
const { jid, action: groupAction } = contract.updateGroupParticipants.input.shape;
const group = jid.describe("Of the group.");

export const GROUP_TOOLS: readonly Tool[] = [
  tool({
    name: "get_groups",
    kind: "read",
    isForeign: true,
    description: "List the groups of the instance. get_group_info returns the members of one.",
    input: z.object({ ...instanceArgument, ...pageArguments }),
    output: responseOf(contract.listGroups),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.listGroups({ id: instanceId(id), participants: false, ...input }, options),
  }),
  tool({
    name: "get_group_info",
    kind: "read",
    isForeign: true,
    description: "Get a group with its settings and participants.",
    input: z.object({ ...instanceArgument, jid: group }),
    output: responseOf(contract.getGroup),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.getGroup({ id: instanceId(id), ...input }, options),
  }),
  tool({
    name: "create_group",
    kind: "create",
    isForeign: true,
    description: "Create a group. The result lists each person separately.",
    input: z.object({ ...instanceArgument, name, participants }),
    output: responseOf(contract.createGroup),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.createGroup({ id: instanceId(id), ...input }, options),
  }),
  changeMembers("add", "Add people to a group."),
  changeMembers("remove", "Remove people from a group."),
  changeMembers("promote", "Make participants of a group admins of it."),
  changeMembers("demote", "Make admins of a group ordinary participants."),
];

function changeMembers(action: z.output<typeof groupAction>, description: string): Tool {
  return tool({
    name: `${action}_group_participants`,
    kind: action === "remove" || action === "demote" ? "remove" : "change",
    isForeign: false,
    description: `${description} The instance must be an admin of the group. The result lists each person separately.`,
    input: z.object({ ...instanceArgument, jid: group, participants }),
    output: responseOf(contract.updateGroupParticipants),
    run: ({ client, instanceId, options }, { instanceId: id, ...input }) =>
      client.updateGroupParticipants({ id: instanceId(id), action, ...input }, options),
  });
}
