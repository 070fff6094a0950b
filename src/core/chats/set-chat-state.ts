import type { Jid, MessageId, MessageRef } from "../../network/driver.ts";
import type { ChatState } from "../../network/session-operations.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { type Conversations, findConversation, type Recipient } from "../contacts/contacts.ts";
import { selectMessages } from "../messages/messages.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import type { chatsContract } from "./contract.ts";
import { recordChatUpdate } from "./record-chat-update.ts";

export interface ChatStateDeps {
  db: Db;
  conversations: Conversations;
  runOperation: RunSessionOperation;
}

type StateInput = InputOf<typeof chatsContract.setChatState>;

/** Each action with the field that it sets, and to what. */
const ACTIONS = {
  archive: ["archived", true],
  unarchive: ["archived", false],
  mute: ["muted", true],
  unmute: ["muted", false],
  pin: ["pinned", true],
  unpin: ["pinned", false],
  read: ["unread", false],
  unread: ["unread", true],
} as const;

type Action = keyof typeof ACTIONS;

const YEAR_SECONDS = 31_536_000;

/** The change that the input requests. Throws VALIDATION_ERROR for none, or for two. */
export function readStateChange(input: StateInput): ChatState {
  const named = (Object.keys(ACTIONS) as Action[]).filter((name) => input[name] !== undefined);
  const actions = input.action ? [input.action] : named;
  const [action] = actions;
  if (!action || actions.length > 1)
    throw invalidField("action", "exactly one action is required", "missing");
  const [field, value] = ACTIONS[action];
  const isMeant = input.state && (input.action !== undefined || input[action] === true);
  const wanted = isMeant ? value : !value;
  if (input.duration_seconds !== undefined && !(field === "muted" && wanted)) {
    throw invalidField("duration_seconds", "is allowed only with mute", "not_allowed_here");
  }
  if (field !== "muted") return { [field]: wanted };
  const ms = (input.duration_seconds ?? YEAR_SECONDS) * 1000;
  return { muted_until: wanted ? new Date(Date.now() + ms) : null };
}

/** Changes the phone first; returns the conversation's id. */
export async function setChatState(
  deps: ChatStateDeps,
  owner: { id: number; account_id: number },
  { jid, type }: Recipient,
  change: ChatState,
): Promise<number> {
  const last = await findLast(deps.db, owner.id, jid);
  if (!last && type === "contact") throw noChat();
  await deps.runOperation(owner.id, (session) => session.chats.setState(jid, change, last));
  return recordChatUpdate(deps, owner, { chat: jid, change });
}

export function noChat(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such chat.");
}

async function findLast(
  db: Db,
  instanceId: number,
  jid: Jid,
): Promise<(MessageRef & { at: Date }) | undefined> {
  const chat = await findConversation(db, instanceId, jid);
  if (!chat) return undefined;
  const row = await selectMessages(db)
    .where("m.conversation_id", "=", chat.id)
    .orderBy("m.sent_at", "desc")
    .orderBy("m.id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { message_id, from_me, sender, sent_at } = row;
  return {
    chat: jid,
    id: message_id as MessageId,
    from_me,
    at: sent_at,
    ...(sender && { sender: sender.jid }),
  };
}
