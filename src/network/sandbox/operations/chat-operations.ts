import type { Jid } from "../../driver.ts";
import { isLidJid, phoneJid } from "../../jid.ts";
import type { ChatOperations, ChatState } from "../../session-operations.ts";
import { type NetworkAction, type RunOperation, succeeded } from "../connection/network-action.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";
import { phoneOf } from "../sandbox-numbers.ts";

export type StoredChatState = Required<ChatState>;

export function chatOperations(run: RunOperation): ChatOperations {
  return {
    setState: (chat, change) =>
      run({ action: "chat_state", chat }, async (acting) => {
        await changeChatState(acting, chat, change);
        return succeeded(null);
      }),
  };
}

/** Changes the chat state of a phone and notifies its devices, except the one that makes the change. */
export async function changeChatState(
  acting: NetworkAction,
  chat: Jid,
  change: ChatState,
): Promise<StoredChatState> {
  const { client, account_id, actor, device, deliver } = acting;
  const jid = chatNamed(chat);
  const state = { ...(await findChat(acting, actor.phone, jid)), ...change };
  if (Object.keys(change).length === 0) return state;
  await client.query(
    `insert into sandbox.chat_state (account_id, owner, chat, archived, pinned, muted_until, unread)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (account_id, owner, chat) do update set archived = excluded.archived, pinned = excluded.pinned,
       muted_until = excluded.muted_until, unread = excluded.unread`,
    [account_id, actor.phone, jid, state.archived, state.pinned, state.muted_until, state.unread],
  );
  await deliver([actor.phone], jid, { kind: "chat", body: change }, { except: device });
  return state;
}

async function findChat(
  { client, account_id }: SandboxNetwork,
  owner: string,
  chat: Jid,
): Promise<StoredChatState> {
  const { rows } = await client.query<StoredChatState>(
    `select archived, pinned, muted_until, unread from sandbox.chat_state
     where account_id = $1 and owner = $2 and chat = $3`,
    [account_id, owner, chat],
  );
  return rows[0] ?? { archived: false, pinned: false, muted_until: null, unread: false };
}

/** A person's LID and phone number name the same chat. */
export function chatNamed(chat: Jid): Jid {
  const phone = isLidJid(chat) ? phoneOf(chat) : null;
  return phone === null ? chat : phoneJid(phone);
}
