import { Handset } from "../handset.ts";
import type { Network } from "../network.ts";
import type { Device } from "../person.ts";
import { type Envelope, messageStanza } from "./envelope.ts";
import { listen } from "./receive-message.ts";

/** Delivers a message to one device. */
export function route(network: Network, envelope: Envelope, to: Device): void {
  const { from } = envelope;
  if (to.person.blocked.has(from.person.phone) && envelope.to.kind === "person") return;
  if (to.person !== from.person) {
    to.person.chats.add(from.person.phone);
    from.person.chats.add(to.person.phone);
  }
  if (to instanceof Handset) void to.inTurn(() => listen(network, to, envelope));
  else to.deliver(messageStanza(envelope, to));
}
