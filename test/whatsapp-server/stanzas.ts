import { describe, handleMessage } from "./client-message.ts";
import { handleReceipt } from "./client-receipt.ts";
import type { Companion } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import type { Network } from "./network.ts";
import { type BinaryNode, children } from "./nodes.ts";
import { handleChatState, handlePhoneCall, handlePresence } from "./presence.ts";
import { handleQuery } from "./queries.ts";

const IB = ["unified_session", "offline_batch"];

/** A stanza of a logged-in device. */
export async function handleStanza(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  stanza: BinaryNode,
): Promise<void> {
  const { tag, attrs } = stanza;
  network.book.stanza(companion.person.phone, tag === "iq" && attrs.xmlns ? `iq:${attrs.xmlns}` : tag);
  switch (tag) {
    case "iq":
      return handleQuery(network, connection, companion, stanza);
    case "message":
      return handleMessage(network, connection, companion, stanza);
    case "receipt":
      return handleReceipt(network, connection, companion, stanza);
    case "ack":
      return companion.acknowledged(attrs);
    case "presence":
      return handlePresence(network, companion, stanza);
    case "chatstate":
      return handleChatState(network, companion, stanza);
    case "call":
      return handlePhoneCall(network, connection, companion, stanza);
    case "ib":
      if (IB.includes(children(stanza)[0]?.tag ?? "")) return;
  }
  network.book.unhandled.push(describe(stanza));
}
