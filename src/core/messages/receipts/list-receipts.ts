import type { Db } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { MessageRow } from "../log/message-view.ts";
import type { MemberReceipt } from "./receipt-ledger.ts";

const RANKS = ["sent", "delivered", "read", "played"] as const;
type Rank = (typeof RANKS)[number];

type PersonReceipt = Omit<MemberReceipt, "message" | "person" | "account_id" | "instance_id">;

/** Who received, read or played our message, furthest first; CONFLICT for messages of others. */
export async function listReceipts(db: Db, message: MessageRow) {
  if (!message.from_me)
    throw new GatewayError("CONFLICT", "Receipts exist only for messages that this instance sent.", {
      details: { reason: "no_receipts" },
    });
  const rows = message.chat_type === "group" ? await listMembers(db, message) : [toContact(message)];
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

function listMembers(db: Db, { id }: MessageRow): Promise<PersonReceipt[]> {
  return db.selectFrom("message_receipt").selectAll().where("message", "=", id).orderBy("person").execute();
}

/** The only recipient in a direct chat. */
function toContact({
  jid,
  chat_lid,
  chat_phone,
  delivered_at,
  read_at,
  played_at,
}: MessageRow): PersonReceipt {
  return { jid, lid: chat_lid, phone: chat_phone, is_addressee: true, delivered_at, read_at, played_at };
}

function hasReached(status: Rank, rank: Rank): boolean {
  return RANKS.indexOf(status) >= RANKS.indexOf(rank);
}

function toView({ jid, lid, phone, delivered_at, read_at, played_at }: PersonReceipt) {
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
