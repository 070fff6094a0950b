import type { Jid, MessageId, PollContent } from "../driver.ts";
import { phoneJid } from "../jid.ts";
import type { SandboxActor, SandboxVoteResult } from "../sandbox-control.ts";
import type { InboxEntry } from "./inbox/inbox-entry.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { lidOf, type SandboxPerson } from "./sandbox-numbers.ts";

export interface SandboxVote extends SandboxActor {
  message_id: MessageId;
  /** Texts or ids of options. */
  options: readonly string[];
}

interface StoredPoll {
  phone: string;
  chat: Jid;
  poll: PollContent | null;
}

type VoteEntry = Extract<InboxEntry, { kind: "vote" }>;

/** The vote as the paired phone receives it; otherwise why nobody may vote so. */
export async function readSandboxVote(
  network: SandboxNetwork,
  phone: string,
  vote: SandboxVote,
  by: SandboxPerson,
): Promise<VoteEntry | Extract<SandboxVoteResult, { outcome: "refused" }>> {
  const stored = await findPoll(network, phone, vote);
  if (!stored?.poll) return refused("message_id", "is not the id of a poll in this chat");
  if (vote.group_jid && !(await isMember(network, vote.group_jid, vote.from_me ? phone : vote.from)))
    return refused("from", "is not a member of the group");
  const { options, selectable_count } = stored.poll;
  const ids = vote.options.flatMap(
    (one) => options.find(({ id, text }) => one === text || one === id)?.id ?? [],
  );
  if (ids.length < vote.options.length)
    return refused("options", "names an option that the poll does not have");
  const most = selectable_count === 0 ? options.length : selectable_count;
  if (new Set(ids).size > most)
    return refused("options", `has more options than a person may choose: ${most}`);
  const from_me = stored.phone === phone;
  return { kind: "vote", body: { id: vote.message_id, from_me, by, options: [...new Set(ids)] } };
}

function refused(field: "message_id" | "options" | "from", reason: string) {
  return { outcome: "refused", field, reason } as const;
}

/** In a chat of two people, either of them may have sent it. */
async function findPoll(
  { client, account_id }: SandboxNetwork,
  phone: string,
  { from, group_jid, message_id }: SandboxVote,
): Promise<StoredPoll | undefined> {
  const chats = group_jid ? [group_jid] : [phoneJid(from), lidOf(from)];
  const writers = group_jid ? null : [phone, from];
  const { rows } = await client.query<StoredPoll>(
    `select phone, chat, poll from sandbox.message
     where account_id = $1 and id = $2 and chat = any ($3) and ($4::text[] is null or phone = any ($4))`,
    [account_id, message_id, chats, writers],
  );
  return rows[0];
}

async function isMember({ client, account_id }: SandboxNetwork, group: Jid, phone: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "select from sandbox.group_member where group_jid = $1 and account_id = $2 and phone = $3",
    [group, account_id, phone],
  );
  return rowCount === 1;
}
