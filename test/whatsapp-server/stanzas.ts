import { describe, takeMessage } from "./client-message.ts";
import { takeReceipt } from "./client-receipt.ts";
import type { Companion } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import type { Network } from "./network.ts";
import { type BinaryNode, children } from "./nodes.ts";
import { takeCall, takeChatState, takePresence } from "./presence.ts";
import { takeQuery } from "./queries.ts";

const IB = ["unified_session", "offline_batch"];

/** A stanza of a logged-in device. */
export async function takeStanza(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  stanza: BinaryNode,
): Promise<void> {
  const { tag, attrs } = stanza;
  network.book.stanza(companion.person.phone, tag === "iq" && attrs.xmlns ? `iq:${attrs.xmlns}` : tag);
  switch (tag) {
    case "iq":
      return takeQuery(network, connection, companion, stanza);
    case "message":
      return takeMessage(network, connection, companion, stanza);
    case "receipt":
      return takeReceipt(network, connection, companion, stanza);
    case "ack":
      return companion.acknowledged(attrs);
    case "presence":
      return takePresence(network, companion, stanza);
    case "chatstate":
      return takeChatState(network, companion, stanza);
    case "call":
      return takeCall(network, connection, companion, stanza);
    case "ib":
      if (IB.includes(children(stanza)[0]?.tag ?? "")) return;
  }
  network.book.unhandled.push(describe(stanza));
}
