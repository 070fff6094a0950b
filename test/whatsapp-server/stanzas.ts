import { describe, handleMessage } from "./client-message.ts";
import { handleReceipt } from "./client-receipt.ts";
import type { Companion } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import type { Network } from "./network.ts";
import { type BinaryNode, children } from "./nodes.ts";
import { handleChatState, handlePhoneCall, handlePresence } from "./presence.ts";
import { handleQuery } from "./queries.ts";

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
    case "ack": {
      const { class: kind = "", id = "", to = "", participant, type, error } = attrs;
      network.book.ack({ phone: companion.person.phone, class: kind, id, to, participant, type, error });
      return companion.acknowledged(attrs);
    }
    case "presence":
      return handlePresence(network, companion, stanza);
    case "chatstate":
      return handleChatState(network, companion, stanza);
    case "call":
      return handlePhoneCall(network, connection, companion, stanza);
    case "ib": {
      const [first] = children(stanza);
      if (first?.tag === "unified_session") return;
      if (first?.tag === "offline_batch") return companion.sendBatch(Number(first.attrs.count));
    }
  }
  network.book.unhandled.push(describe(stanza));
}
