import type { PoolClient } from "pg";
import type { ChatCalls, ChatState } from "../calls.ts";
import type { Jid } from "../driver.ts";
import { isLidJid, phoneJid } from "../ids.ts";
import { type Acting, type Ask, done } from "./acting.ts";
import { phoneOf } from "./numbers.ts";

export type KeptChat = Required<ChatState>;

export function chatCalls(ask: Ask): ChatCalls {
  return {
    setState: (chat, change) =>
      ask({ action: "chat_state", chat }, async (acting) => {
        await changeChat(acting, chat, change);
        return done(null);
      }),
  };
}

/** Changes what a phone shows of a chat, and tells its devices, except the one that does it. */
export async function changeChat(acting: Acting, chat: Jid, change: ChatState): Promise<KeptChat> {
  const { client, me, device, post } = acting;
  const jid = chatNamed(chat);
  const state = { ...(await findChat(client, me.phone, jid)), ...change };
  if (Object.keys(change).length === 0) return state;
  await client.query(
    `insert into sandbox.chat (owner, chat, archived, pinned, muted_until, unread) values ($1, $2, $3, $4, $5, $6)
     on conflict (owner, chat) do update set archived = excluded.archived, pinned = excluded.pinned,
       muted_until = excluded.muted_until, unread = excluded.unread`,
    [me.phone, jid, state.archived, state.pinned, state.muted_until, state.unread],
  );
  await post([me.phone], jid, { kind: "chat", body: change }, { except: device });
  return state;
}

async function findChat(client: PoolClient, owner: string, chat: Jid): Promise<KeptChat> {
  const { rows } = await client.query<KeptChat>(
    "select archived, pinned, muted_until, unread from sandbox.chat where owner = $1 and chat = $2",
    [owner, chat],
  );
  return rows[0] ?? { archived: false, pinned: false, muted_until: null, unread: false };
}

/** A chat with a person is one, by whichever address. */
function chatNamed(chat: Jid): Jid {
  const phone = isLidJid(chat) ? phoneOf(chat) : null;
  return phone === null ? chat : phoneJid(phone);
}
