import { randomBytes } from "node:crypto";
import type { ServerGroupChange } from "../control.ts";
import { MEMBER_ADD, type ServerGroup } from "../group.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import type { Addressing } from "../protocol/jid.ts";
import { type BinaryNode, node, seconds } from "../protocol/nodes.ts";

const other = (addressing: Addressing): Addressing => (addressing === "lid" ? "pn" : "lid");

/** A member in the group's addressing, with the other jid. */
export function memberNode(group: ServerGroup, person: ServerPerson, admin?: boolean): BinaryNode {
  const { addressing, owner } = group;
  const alternative = addressing === "lid" ? "phone_number" : "lid";
  return node("participant", {
    jid: person.jid(addressing),
    [alternative]: person.jid(other(addressing)),
    type: admin ? (person === owner ? "superadmin" : "admin") : undefined,
  });
}

export function groupNode(group: ServerGroup): BinaryNode {
  const { owner, addressing } = group;
  const attrs = {
    id: group.jid.split("@")[0],
    subject: group.subject,
    s_t: seconds(group.createdAt),
    s_o: owner.jid(addressing),
    creation: seconds(group.createdAt),
    creator: owner.jid(addressing),
    creator_pn: owner.jid("pn"),
    addressing_mode: addressing,
    size: group.members.size,
  };
  const flags = [
    group.announce && node("announcement"),
    group.locked && node("locked"),
    group.isOfCommunity && node("default_sub_group"),
    group.ephemeral > 0 && node("ephemeral", { expiration: group.ephemeral }),
    group.approval && node("membership_approval_mode", {}, [node("group_join", { state: "on" })]),
    node("member_add_mode", {}, Buffer.from(group.memberAddMode)),
  ].filter((one) => one !== false);
  const description = node(
    "description",
    { id: group.descriptionId, participant: owner.jid(addressing), t: seconds(group.createdAt) },
    [node("body", {}, Buffer.from(group.description))],
  );
  const members = [...group.members].map(([person, admin]) => memberNode(group, person, admin));
  return node("group", attrs, [...(group.description ? [description] : []), ...flags, ...members]);
}

/** Changes a group and notifies the devices of current and former members. */
export function changeGroup(
  network: Network,
  group: ServerGroup,
  actor: ServerPerson,
  change: ServerGroupChange,
): BinaryNode {
  const before = [...group.members.keys()];
  const said = apply(network, group, change);
  announce(group, actor, said, [...new Set([...before, ...group.members.keys()])]);
  return said;
}

/** A person uses the invitation of a group; false: an admin must approve it first, and the admins hear of it. */
export function enterGroup(network: Network, group: ServerGroup, person: ServerPerson): boolean {
  if (!group.approval || group.members.has(person)) {
    changeGroup(network, group, person, { change: "add", members: [person.phone] });
    return true;
  }
  group.requests.set(person, seconds());
  const { addressing } = group;
  const asking = node("requested_user", {
    jid: person.jid(addressing),
    ...(addressing === "lid" && { phone_number: person.jid("pn") }),
  });
  const admins = [...group.members].flatMap(([member, isAdmin]) => (isAdmin ? [member] : []));
  announce(
    group,
    person,
    node("created_membership_requests", { request_method: "invite_link" }, [asking]),
    admins,
  );
  return false;
}

export function announce(
  group: ServerGroup,
  actor: ServerPerson,
  said: BinaryNode,
  to: ServerPerson[],
): void {
  const { addressing } = group;
  const attrs = {
    from: group.jid,
    type: "w:gp2",
    id: randomBytes(8).toString("hex"),
    t: seconds(),
    participant: actor.jid(addressing),
    [`participant_${other(addressing)}`]: actor.jid(other(addressing)),
    addressing_mode: addressing,
    notify: actor.name,
  };
  for (const companion of to.flatMap((person) => [...person.companions.values()])) {
    companion.deliver(node("notification", attrs, [said]));
  }
}

function apply(network: Network, group: ServerGroup, change: ServerGroupChange): BinaryNode {
  switch (change.change) {
    case "add":
    case "remove":
    case "promote":
    case "demote":
      return changeMembers(network, group, change.change, change.members);
    case "subject":
      group.subject = change.subject;
      return node("subject", { subject: change.subject, s_t: seconds() });
    case "description":
      group.description = change.description;
      group.descriptionId = randomBytes(8).toString("hex").toUpperCase();
      return node("description", { id: group.descriptionId }, [
        node("body", {}, Buffer.from(change.description)),
      ]);
    case "ephemeral":
      group.ephemeral = change.seconds;
      group.ephemeralSetAt = seconds();
      return change.seconds > 0 ? node("ephemeral", { expiration: change.seconds }) : node("not_ephemeral");
    case "approval":
      group.approval = change.on;
      return node("membership_approval_mode", {}, [node("group_join", { state: change.on ? "on" : "off" })]);
    case "member_add_mode":
      group.memberAddMode = change.everybody ? MEMBER_ADD.everybody : MEMBER_ADD.admins;
      return node("member_add_mode", {}, Buffer.from(group.memberAddMode));
    default:
      return changeSetting(group, change.change);
  }
}

function changeSetting(
  group: ServerGroup,
  setting: "announcement" | "not_announcement" | "locked" | "unlocked",
): BinaryNode {
  if (setting.endsWith("announcement")) group.announce = setting === "announcement";
  else group.locked = setting === "locked";
  return node(setting);
}

function changeMembers(
  network: Network,
  group: ServerGroup,
  change: "add" | "remove" | "promote" | "demote",
  members: string[],
): BinaryNode {
  const people = members.map((who) => network.person(who));
  for (const person of people) {
    group.requests.delete(person);
    if (change === "remove") group.members.delete(person);
    else group.members.set(person, change === "promote");
  }
  return node(
    change,
    {},
    people.map((person) => memberNode(group, person)),
  );
}
