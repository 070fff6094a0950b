import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { isWithin } from "../../platform/reach.ts";
import {
  type Conversations,
  type FindCountry,
  findConversation,
  type NumberResolver,
  type Recipient,
  resolveForInstance,
} from "../contacts/contacts.ts";
import { getInstance } from "../instances/instances.ts";
import { listMessages, type MessageFilter } from "../messages/messages.ts";
import type { chatsContract } from "./contract.ts";
import { listChats } from "./list-chats.ts";
import { type ChatStateDeps, noChat, readStateChange, setChatState } from "./set-chat-state.ts";
import { toListedMessage } from "./to-listed-message.ts";

export { recordChatUpdate } from "./record-chat-update.ts";

export interface ChatDeps extends ChatStateDeps {
  conversations: Conversations;
  numbers: NumberResolver;
  findCountry: FindCountry;
}

type ChatHandlers = Handlers<typeof chatsContract>;

export function chatHandlers(deps: ChatDeps): ChatHandlers {
  const { db } = deps;
  return {
    ...messageListHandlers(deps),

    async listChats({ input: { id, chat, ...filter } }) {
      if (chat !== undefined) {
        const conversation_id = await getConversation(deps, id, "chat", chat);
        const { rows, pagination } = await listChats(db, { instance_ids: [id], conversation_id, limit: 1 });
        return new OkResponse(rows, { beside: { pagination } });
      }
      const { rows, pagination } = await listChats(db, { ...filter, instance_ids: [id] });
      return new OkResponse(rows, { beside: { pagination } });
    },

    async listConversations({ input: { instance_id, ...filter }, caller }) {
      const instance_ids = await findInstances(db, caller, instance_id);
      const { rows, pagination } = await listChats(db, { ...filter, instance_ids });
      return new OkResponse(rows, { beside: { pagination } });
    },

    async setChatState({ input }) {
      const change = readStateChange(input);
      const owner = await getInstance(db, input.id);
      const { number, phone, jid } = input;
      const named = await resolveForInstance(deps.findCountry, owner.id, { number, phone, jid });
      const chat = await findChat(deps, owner, named);
      const conversation_id = await setChatState(deps, owner, chat, change);
      const { rows } = await listChats(db, { instance_ids: [owner.id], conversation_id, limit: 1 });
      const [shown] = rows;
      if (!shown) throw noChat();
      return shown;
    },
  };
}

type MessageLists = "listMessages" | "listChatMessages" | "listAccountMessages";

function messageListHandlers(deps: ChatDeps): Pick<ChatHandlers, MessageLists> {
  const { db } = deps;
  const list = async (filter: MessageFilter) => {
    const { rows, pagination } = await listMessages(db, filter);
    return new OkResponse(rows.map(toListedMessage), { beside: { pagination } });
  };
  return {
    async listMessages({ input: { id, chat, ...filter } }) {
      const conversation_id = chat === undefined ? undefined : await getConversation(deps, id, "chat", chat);
      return list({ ...filter, instance_ids: [id], conversation_id });
    },

    async listChatMessages({ input: { id, jid, ...filter } }) {
      const conversation_id = await getConversation(deps, id, "jid", jid);
      return list({ ...filter, instance_ids: [id], conversation_id });
    },

    async listAccountMessages({ input: { instance_id, chat, ...filter }, caller }) {
      const instance_ids = await findInstances(db, caller, instance_id);
      if (chat === undefined) return list({ ...filter, instance_ids });
      if (instance_id === undefined) throw invalidField("instance_id", "is required with chat", "missing");
      return list({
        ...filter,
        instance_ids,
        conversation_id: await getConversation(deps, instance_id, "chat", chat),
      });
    },
  };
}

/**
 * The instances that the caller may read, or the named one of them; for a key limited to its own instance, that
 * one. Throws NOT_FOUND or INSTANCE_FORBIDDEN for any other.
 */
async function findInstances(db: Db, caller: Caller, named: number | undefined): Promise<number[]> {
  if (!("account_id" in caller))
    throw new GatewayError("FORBIDDEN", "This route needs an API key or a signed-in user.");
  if (caller.kind === "key" && caller.scope === "instance") {
    if (named === undefined || named === caller.instance_id) return [caller.instance_id];
    throw new GatewayError(
      "INSTANCE_FORBIDDEN",
      "This API key belongs to another instance. Use the key of the instance that the request names.",
    );
  }
  const { account_id } = caller;
  const reach = { account_id, instance_ids: caller.kind === "key" ? null : caller.instance_ids };
  if (named !== undefined) return [(await getInstance(db, named, reach)).id];
  const own = await db
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", account_id)
    .where("removed_at", "is", null)
    .where(isWithin(reach, sql.ref("id")))
    .orderBy("id")
    .execute();
  return own.map(({ id }) => id);
}

/** Throws NOT_FOUND for a chat without messages. */
async function getConversation(
  deps: ChatDeps,
  instanceId: number,
  field: string,
  text: string,
): Promise<number> {
  const target = { [field === "jid" ? "jid" : "number"]: text };
  const named = await resolveForInstance(deps.findCountry, instanceId, target);
  const { jid } = await findChat(deps, await getInstance(deps.db, instanceId), named);
  const found = await findConversation(deps.db, instanceId, jid);
  if (!found) throw noChat();
  return found.id;
}

/** Finds the chat under its stored address. */
async function findChat(
  { conversations, numbers }: ChatDeps,
  owner: { id: number; account_id: number },
  named: Recipient,
): Promise<Recipient> {
  const jid = await numbers.resolve(owner, await conversations.addressOf(owner.id, named.jid));
  return { ...named, jid };
}
