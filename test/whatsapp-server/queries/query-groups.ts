import type { ServerGroupChange } from "../control.ts";
import { MEMBER_ADD, type ServerGroup } from "../group.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import {
  type BinaryNode,
  bytes,
  child,
  childBytes,
  children,
  childrenNamed,
  failure,
  node,
  result,
} from "../protocol/nodes.ts";
import type { Query, QueryHandler } from "../query.ts";
import { announce, changeGroup, enterGroup, groupNode, memberNode } from "./group-changes.ts";

/** The network's groups (`@g.us`), or one of them. */
export const groupQuery: QueryHandler = (query) => {
  const { iq, network, companion } = query;
  const to = iq.attrs.to ?? "";
  if (to === "@g.us" || to === "g.us") return anyGroup(query);
  const group = network.groups.get(to);
  if (!group) return failure(iq, 404, "item-not-found");
  if (!group.members.has(companion.person)) return failure(iq, 403, "forbidden");
  return iq.attrs.type === "get" ? queryGroup(query, group) : change(query, group);
};

function anyGroup({ iq, first, network, companion }: Query): BinaryNode | undefined {
  const { person } = companion;
  switch (first?.tag) {
    case "participating": {
      const mine = [...network.groups.values()].filter((one) => one.members.has(person));
      return result(iq, [node("groups", {}, mine.map(groupNode))]);
    }
    case "create":
      return isOfToday(network, first)
        ? result(iq, [create(network, person, first)])
        : failure(iq, 400, "bad-request");
    case "leave":
      return result(iq, [
        node(
          "leave",
          {},
          childrenNamed(first, "group").map((one) => leave(network, person, one)),
        ),
      ]);
    case "invite": {
      const group = [...network.groups.values()].find((one) => one.invite === first.attrs.code);
      if (!group) return failure(iq, 406, "not-acceptable");
      if (iq.attrs.type === "get") return result(iq, [groupNode(group)]);
      const isIn = enterGroup(network, group, person);
      return result(iq, [node(isIn ? "group" : "membership_approval_request", { jid: group.jid })]);
    }
    default:
      return undefined;
  }
}

function leave(network: Network, person: ServerPerson, { attrs: { id = "" } }: BinaryNode): BinaryNode {
  const group = network.groups.get(id);
  if (!group?.members.has(person)) return node("group", { id, error: 404 });
  changeGroup(network, group, person, { change: "remove", members: [person.phone] });
  return node("group", { id });
}

/** New groups since the middle of 2026 state their settings and both addresses of people with a LID. */
function isOfToday(network: Network, requested: BinaryNode): boolean {
  const approval = child(child(requested, "membership_approval_mode"), "group_join");
  return (
    requested.attrs.key === undefined &&
    childBytes(requested, "member_add_mode").toString() === MEMBER_ADD.everybody &&
    child(requested, "ephemeral")?.attrs.expiration === "0" &&
    approval?.attrs.state === "off" &&
    childrenNamed(requested, "participant").every(
      ({ attrs: { jid = "", phone_number } }) =>
        !jid.endsWith("@lid") || phone_number === network.findPerson(jid)?.jid("pn"),
    )
  );
}

/** People who cannot be added are listed with the reason. */
function create(network: Network, owner: ServerPerson, requested: BinaryNode): BinaryNode {
  const group = network.addGroup(requested.attrs.subject ?? "", owner, "lid");
  const refused: BinaryNode[] = [];
  for (const { attrs } of childrenNamed(requested, "participant")) {
    const error = whyNot(network, group, "add", attrs.jid ?? "");
    const person = network.findPerson(attrs.jid);
    if (error !== undefined) refused.push(node("participant", { jid: attrs.jid, error }));
    else if (person) group.members.set(person, false);
  }
  const others = [...group.members.keys()].filter((one) => one !== owner);
  const said = groupNode(group);
  announce(group, owner, node("create", { type: "new" }, [said]), others);
  return { ...said, content: [...children(said), ...refused] };
}

function queryGroup({ iq, first, companion }: Query, group: ServerGroup): BinaryNode | undefined {
  switch (first?.tag) {
    case "query":
      return result(iq, [groupNode(group)]);
    case "invite":
      return result(iq, [node("invite", { code: group.invite })]);
    case "membership_approval_requests":
      if (!group.members.get(companion.person)) return failure(iq, 403, "forbidden");
      return result(iq, [
        node("membership_approval_requests", {}, [...group.requests].map(requestNode(group))),
      ]);
    default:
      return undefined;
  }
}

const requestNode =
  ({ addressing }: ServerGroup) =>
  ([person, at]: [ServerPerson, number]): BinaryNode =>
    node("membership_approval_request", {
      jid: person.jid(addressing),
      ...(addressing === "lid" && { phone_number: person.jid("pn") }),
      request_method: "invite_link",
      request_time: at,
    });

function change({ iq, first, network, companion }: Query, group: ServerGroup): BinaryNode | undefined {
  const { person } = companion;
  if (!first) return undefined;
  const isOpen = first.tag === "add" && group.memberAddMode === MEMBER_ADD.everybody;
  if (!group.members.get(person) && !isOpen && (group.locked || isForAdmins(first.tag))) {
    return failure(iq, 403, "forbidden");
  }
  if (first.tag === "membership_requests_action") return answerRequests(iq, first, network, group, person);
  if (first.tag === "invite") return result(iq, [node("invite", { code: group.renewInvite() })]);
  const requested = childrenNamed(first, "participant").map(({ attrs: { jid = "" } }) => {
    return { jid, error: whyNot(network, group, first.tag, jid) };
  });
  const members = requested.flatMap(({ jid, error }) => (error === undefined ? [jid] : []));
  const wanted = changeOf(first, members);
  if (!wanted) return undefined;
  if (requested.length === 0 || members.length > 0) changeGroup(network, group, person, wanted);
  const outcomes = requested.map(({ jid, error }) => outcomeOf(network, group, jid, error));
  return result(iq, [node(first.tag, {}, outcomes)]);
}

/** Those who are approved become members; the code of those who have not asked is 404. */
function answerRequests(
  iq: BinaryNode,
  requested: BinaryNode,
  network: Network,
  group: ServerGroup,
  by: ServerPerson,
): BinaryNode | undefined {
  const [action] = children(requested);
  if (action?.tag !== "approve" && action?.tag !== "reject") return undefined;
  const answered = childrenNamed(action, "participant").map(({ attrs: { jid = "" } }) => {
    const person = network.findPerson(jid);
    const isAsking = person !== undefined && group.requests.delete(person);
    if (isAsking && action.tag === "approve")
      changeGroup(network, group, by, { change: "add", members: [person.phone] });
    return outcomeOf(network, group, jid, isAsking ? undefined : 404);
  });
  return result(iq, [node(requested.tag, {}, [node(action.tag, {}, answered)])]);
}

/** The error code against adding or changing a member. */
function whyNot(network: Network, group: ServerGroup, action: string, jid: string): number | undefined {
  const person = network.findPerson(jid);
  if (!person) return 404;
  if (action !== "add") return group.members.has(person) ? undefined : 404;
  if (group.members.has(person)) return 409;
  return person.refusesGroups ? 403 : undefined;
}

const isForAdmins = (tag: string): boolean =>
  !["subject", "description", "ephemeral", "not_ephemeral"].includes(tag);

function outcomeOf(network: Network, group: ServerGroup, jid: string, error: number | undefined): BinaryNode {
  const person = network.findPerson(jid);
  if (!person) return node("participant", { jid, error });
  const said = memberNode(group, person);
  return error === undefined ? said : { ...said, attrs: { ...said.attrs, error: String(error) } };
}

function changeOf(requested: BinaryNode, members: string[]): ServerGroupChange | undefined {
  const { tag } = requested;
  switch (tag) {
    case "add":
    case "remove":
    case "promote":
    case "demote":
      return { change: tag, members };
    case "subject":
      return { change: "subject", subject: bytes(requested).toString("utf8") };
    case "description":
      return { change: "description", description: childBytes(requested, "body").toString("utf8") };
    case "announcement":
    case "not_announcement":
    case "locked":
    case "unlocked":
      return { change: tag };
    default:
      return rareChangeOf(requested);
  }
}

function rareChangeOf(requested: BinaryNode): ServerGroupChange | undefined {
  switch (requested.tag) {
    case "ephemeral":
      return { change: "ephemeral", seconds: Number(requested.attrs.expiration ?? 0) };
    case "not_ephemeral":
      return { change: "ephemeral", seconds: 0 };
    case "member_add_mode":
      return { change: "member_add_mode", everybody: bytes(requested).toString() === "all_member_add" };
    case "membership_approval_mode":
      return { change: "approval", on: child(requested, "group_join")?.attrs.state === "on" };
    default:
      return undefined;
  }
}
