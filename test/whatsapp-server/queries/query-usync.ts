import { showsProfile } from "../contact-trust.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import { certificateOf } from "../protocol/business-certificate.ts";
import {
  type BinaryNode,
  bytes,
  child,
  childBytes,
  children,
  childrenNamed,
  node,
  result,
  seconds,
} from "../protocol/nodes.ts";
import type { QueryHandler } from "../query.ts";

/** Devices, LID, existence of a number, and about text. */
export const usyncQuery: QueryHandler = ({ network, iq, first, companion }) => {
  if (first?.tag !== "usync") return undefined;
  const requested = children(child(first, "query")).map((one) => one.tag);
  const fault = network.faults.take("usync_error", companion.person.phone, ({ part }) =>
    requested.includes(part),
  );
  const users = childrenNamed(child(first, "list"), "user").map((user) =>
    userNode(network, companion.person, user, requested),
  );
  return result(iq, [
    node("usync", first.attrs, [
      node(
        "result",
        {},
        requested.map((tag) => node(tag, {}, tag === fault?.part ? [errorNode(fault)] : undefined)),
      ),
      node("list", {}, fault ? [] : users),
    ]),
  ]);
};

function userNode(network: Network, by: ServerPerson, user: BinaryNode, requested: string[]): BinaryNode {
  const phone = bytes(child(user, "contact")).toString("utf8").replace(/\D/g, "");
  const person = user.attrs.jid ? network.findPerson(user.attrs.jid) : network.findByNumber(phone);
  const jid = user.attrs.jid ?? `${person?.phone ?? phone}@s.whatsapp.net`;
  const parts = requested.flatMap((tag) => part(tag, person, user, by) ?? []);
  return node("user", { jid }, parts);
}

const errorNode = ({ code, backoff }: { code: number; backoff?: number }): BinaryNode =>
  node("error", { code, text: code === 429 ? "rate-overlimit" : "ordered by the test", backoff });

function part(
  tag: string,
  person: ServerPerson | undefined,
  requested: BinaryNode,
  by: ServerPerson,
): BinaryNode | undefined {
  if (tag === "contact") {
    return node("contact", { type: person ? "in" : "out" }, childBytes(requested, "contact"));
  }
  if (!person) return undefined;
  switch (tag) {
    case "devices":
      return node("devices", {}, [node("device-list", {}, devicesOf(person, requested.attrs.jid))]);
    case "lid":
      return node("lid", { val: person.jid("lid") });
    case "status":
      return node(
        "status",
        { t: seconds() },
        Buffer.from(showsProfile(person, requested, by) ? person.about : ""),
      );
    case "disappearing_mode":
      return node("disappearing_mode", { duration: person.disappearing, t: seconds() });
    case "business":
      return person.business?.verified_name === undefined
        ? undefined
        : node("business", {}, [
            node("verified_name", { v: 1 }, certificateOf(person.business.verified_name)),
          ]);
    default:
      return undefined;
  }
}

/** Migrated people only by LID. */
const devicesOf = (person: ServerPerson, by: string | undefined): BinaryNode[] =>
  person.deviceless || (person.isMigrated && !by?.endsWith("@lid"))
    ? []
    : person.devices.map(({ number }) =>
        node("device", { id: number, ...(number > 0 && { "key-index": number }) }),
      );
