import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import type { Jid } from "../../driver.ts";
import type { JoinRequest, JoinRequestAction } from "../../groups.ts";
import { addressesIn } from "../wire/read-group-change.ts";
import type { OperationContext } from "./operation-context.ts";

/** The people who wait for an admin's approval, in the network's order. */
export async function listJoinRequests(
  { sock, identities }: OperationContext,
  group: Jid,
): Promise<JoinRequest[]> {
  const requests = (await sock.groupRequestParticipantsList(group)) as BinaryNode["attrs"][];
  const addresses = requests.map(addressesIn);
  await identities.learn(addresses.map(({ address: jid, other }) => ({ jid, ...(other && { other }) })));
  const people = await identities.identifyAll(addresses);
  return requests.flatMap(({ request_method, request_time }, i) => {
    const who = people[i];
    const at = Number(request_time);
    const requested_at = at > 0 ? new Date(at * 1000) : null;
    return who ? [{ who, method: request_method ?? null, requested_at }] : [];
  });
}

/** Approves or rejects requests; returns the network's node of each person, of which Baileys keeps only one address. */
export async function answerJoinRequests(
  { sock, identities, groupMetadata }: OperationContext,
  group: Jid,
  action: JoinRequestAction,
  people: readonly Jid[],
): Promise<BinaryNode[]> {
  const known = await identities.identifyAll(people.map((address) => ({ address })));
  const content = people.map((jid, i) => ({ tag: "participant", attrs: { jid: known[i]?.lid ?? jid } }));
  const response: BinaryNode = await sock.query({
    tag: "iq",
    attrs: { to: group, type: "set", xmlns: "w:g2" },
    content: [
      { tag: "membership_requests_action", attrs: {}, content: [{ tag: action, attrs: {}, content }] },
    ],
  });
  groupMetadata.delete(group);
  const results = getBinaryNodeChild(getBinaryNodeChild(response, "membership_requests_action"), action);
  return getBinaryNodeChildren(results, "participant");
}
