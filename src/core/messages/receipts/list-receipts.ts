import type { Db } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { MessageRow } from "../log/message-view.ts";
import type { MemberReceipt } from "./receipt-ledger.ts";

const RANKS = ["sent", "delivered", "read", "played"] as const;
type Rank = (typeof RANKS)[number];

/** Group members who received, read or played our message, furthest first; CONFLICT for other messages. */
export async function listReceipts(db: Db, message: MessageRow) {
  if (!message.from_me || message.chat_type !== "group")
    throw new GatewayError(
      "CONFLICT",
      "Receipts per person exist only for messages that this instance sent to a group. Read the status of this message with GET .../messages/:messageId.",
      { details: { reason: "no_receipts" } },
    );
  const rows = await db
    .selectFrom("message_receipt")
    .selectAll()
    .where("message", "=", message.id)
    .orderBy("person")
    .execute();
  const receipts = rows.map(toView).toSorted((a, b) => RANKS.indexOf(b.status) - RANKS.indexOf(a.status));
  const addressees = rows.filter((row) => row.is_addressee).length;
  const count = (rank: Rank) => receipts.filter((one) => hasReached(one.status, rank)).length;
  return {
    message_id: message.message_id,
    jid: message.jid,
    status: message.status,
    addressees: addressees === 0 ? null : addressees,
    delivered: count("delivered"),
    read: count("read"),
    played: count("played"),
    receipts,
  };
}

function hasReached(status: Rank, rank: Rank): boolean {
  return RANKS.indexOf(status) >= RANKS.indexOf(rank);
}

function toView({ jid, lid, phone, delivered_at, read_at, played_at }: MemberReceipt) {
  const status: Rank = played_at ? "played" : read_at ? "read" : delivered_at ? "delivered" : "sent";
  return {
    jid,
    lid,
    phone,
    status,
    delivered_at: delivered_at?.toISOString() ?? null,
    read_at: read_at?.toISOString() ?? null,
    played_at: played_at?.toISOString() ?? null,
  };
}
