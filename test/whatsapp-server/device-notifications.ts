import { randomBytes } from "node:crypto";
import { Curve } from "baileys";
import type { Companion } from "./companion.ts";
import { removed } from "./connection.ts";
import type { Network } from "./network.ts";
import type { ServerPerson } from "./person.ts";
import { type BinaryNode, node, seconds } from "./protocol/nodes.ts";

/** Notifies a person's chats and own devices of an added or removed device. */
export function notifyOfDevice(
  network: Network,
  { person, number }: Companion,
  change: "add" | "remove",
): void {
  const device = node("device", { jid: person.jid("pn", number), "key-index": number });
  const content = node(change, { device_hash: randomBytes(4).toString("hex") }, [device]);
  notify(network, person, "devices", content, number);
}

function notify(
  network: Network,
  person: ServerPerson,
  type: string,
  content: BinaryNode,
  except?: number,
): void {
  const id = randomBytes(8).toString("hex");
  const attrs = { from: person.jid("pn"), lid: person.jid("lid"), type, id, t: seconds() };
  const others = [...person.chats].map((phone) => network.person(phone));
  for (const one of new Set([person, ...others])) {
    for (const companion of one.companions.values()) {
      if (one === person && companion.number === except) continue;
      companion.deliver(node("notification", attrs, [content]));
    }
  }
}

/** Removes a linked device. */
export function removeDevice(network: Network, companion: Companion, why: string): void {
  companion.person.companions.delete(companion.number);
  companion.connection?.end(removed(), why);
  notifyOfDevice(network, companion, "remove");
}

/** Reinstalls a person's app and notifies the chats. */
export function reinstall(network: Network, person: ServerPerson): void {
  for (const companion of [...person.companions.values()]) {
    removeDevice(network, companion, "the phone was installed anew");
  }
  person.identity = Curve.generateKeyPair();
  person.handset.renew();
  notify(network, person, "encrypt", node("identity"));
}
