import type { Network } from "./network.ts";
import { type BinaryNode, bytes, child, children, childrenNamed, node, result, seconds } from "./nodes.ts";
import type { Person } from "./person.ts";
import type { Answer } from "./queries.ts";

/** Who somebody is: devices, LID, whether there is such a number, what the status says. */
export const usyncQuery: Answer = ({ network, iq, first }) => {
  if (first?.tag !== "usync") return undefined;
  const asked = children(child(first, "query")).map((one) => one.tag);
  const users = childrenNamed(child(first, "list"), "user").map((user) => answerFor(network, user, asked));
  return result(iq, [
    node("usync", first.attrs, [
      node(
        "result",
        {},
        asked.map((tag) => node(tag)),
      ),
      node("list", {}, users),
    ]),
  ]);
};

function answerFor(network: Network, user: BinaryNode, asked: string[]): BinaryNode {
  const phone = bytes(child(user, "contact")).toString("utf8").replace(/\D/g, "");
  const person = user.attrs.jid ? network.findPerson(user.attrs.jid) : network.findByNumber(phone);
  const jid = user.attrs.jid ?? `${person?.phone ?? phone}@s.whatsapp.net`;
  const parts = asked.flatMap((tag) => part(tag, person) ?? []);
  return node("user", { jid }, parts);
}

function part(tag: string, person: Person | undefined): BinaryNode | undefined {
  if (tag === "contact") return node("contact", { type: person ? "in" : "out" });
  if (!person) return undefined;
  switch (tag) {
    case "devices":
      return node("devices", {}, [node("device-list", {}, devicesOf(person))]);
    case "lid":
      return node("lid", { val: person.jid("lid") });
    case "status":
      return node("status", { t: seconds() }, Buffer.from(person.about));
    case "disappearing_mode":
      return node("disappearing_mode", { duration: person.disappearing, t: seconds() });
    default:
      return undefined;
  }
}

const devicesOf = (person: Person): BinaryNode[] =>
  person.devices.map(({ number }) =>
    node("device", { id: number, ...(number > 0 && { "key-index": number }) }),
  );
