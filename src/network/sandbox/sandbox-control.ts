import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { InboundContent, Jid, MessageId, QuotedMessage } from "../driver.ts";
import { newMessageId, phoneJid } from "../jid.ts";
import type { SandboxActor, SandboxControl, SandboxMessage } from "../sandbox-control.ts";
import { ignoreIdleErrors } from "./connection/ignore-idle-errors.ts";
import { wakeupBusOf } from "./connection/wakeup-bus.ts";
import { postInboxEntry } from "./inbox/device-inbox.ts";
import type { InboxEntry } from "./inbox/inbox-entry.ts";
import { storyEntry, viewEntry } from "./operations/status-operations.ts";
import { readSandboxVote } from "./read-sandbox-vote.ts";
import { quoteTextOf } from "./requests/sandbox-request.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { lidOf, type SandboxPerson } from "./sandbox-numbers.ts";
import {
  deleteAccountData,
  deleteCopies,
  deletePeople,
  deletePerson,
  deletePhoneData,
} from "./world/delete-copies.ts";
import { ensureMembers } from "./world/group-store.ts";
import { storeMedia } from "./world/media-store.ts";
import { asSeenByPhone, findContacts, findPhoneOwner, findProfile } from "./world/person-store.ts";
import { scanPairing } from "./world/scan-pairing.ts";
import { createWorldControls } from "./world-controls.ts";

/**
 * Acts in one account's network from any process; sessions in other processes receive it with their next
 * poll.
 */
export function createSandboxControl(pool: Pool, account_id: number): SandboxControl {
  ignoreIdleErrors(pool);
  const network = { client: pool, account_id };
  const post: Post = (phone, { chat, writer }, entry) =>
    postAndWake(network, { phone, chat, entry, writer: writer.phone });
  return {
    ...createWorldControls(network),
    ...createCuts(network),
    ...createDeletions(network),
    ...createStoryControls(network, post),
    ...createSignalControls(network, post),
    scan: (qrOrCode, phone) => scanPairing(network, qrOrCode, phone),
    async receive(phone, message) {
      const scene = await sceneOf(network, phone, message);
      const entry = await write(network, phone, message, scene);
      return (await post(phone, scene, entry)) ? entry.body.id : undefined;
    },
    async react(phone, act) {
      const scene = await sceneOf(network, phone, act);
      const from_me = (await findMessage(network, act.message_id, [phone])) !== undefined;
      const body = { id: act.message_id, from_me, by: scene.writer, reaction: act.reaction };
      return post(phone, scene, { kind: "reaction", body });
    },
    async vote(phone, act) {
      const scene = await sceneOf(network, phone, act);
      const entry = await readSandboxVote(network, phone, act, scene.writer);
      if ("outcome" in entry) return entry;
      return (await post(phone, scene, entry)) ? { outcome: "voted" } : undefined;
    },
    async edit(phone, act) {
      const scene = await sceneOf(network, phone, act);
      const body = { id: act.message_id, from_me: act.from_me ?? false, by: scene.writer, text: act.text };
      return post(phone, scene, { kind: "edited", body });
    },
    async delete(phone, act) {
      const scene = await sceneOf(network, phone, act);
      const body = { id: act.message_id, from_me: act.from_me ?? false, by: scene.writer };
      return post(phone, scene, { kind: "deleted", body });
    },
    async read(phone, act) {
      const scene = await sceneOf(network, phone, act);
      const by = act.group_jid && !act.from_me ? scene.writer : null;
      const body = { ids: act.message_ids, from_me: !act.from_me, status: "read" as const, by };
      return post(phone, scene, { kind: "status", body });
    },
  };
}

/** What a person does without a message: comes online, types, calls. */
function createSignalControls(
  network: SandboxNetwork<Pool>,
  post: Post,
): Pick<SandboxControl, "showPresence" | "startPhoneCall"> {
  return {
    async showPresence(phone, act) {
      const scene = await sceneOf(network, phone, act);
      const { presence, last_seen_at } = act;
      const body = { who: scene.writer, presence, last_seen_at: last_seen_at?.toISOString() ?? null };
      return post(phone, scene, { kind: "presence", body });
    },
    async startPhoneCall(phone, act) {
      const scene = await sceneOf(network, phone, act);
      const call_id = randomBytes(16).toString("hex").toUpperCase();
      const body = { from: scene.writer, call_id, video: act.video ?? false };
      return (await post(phone, scene, { kind: "call", body })) ? call_id : undefined;
    },
  };
}

async function postAndWake(
  network: SandboxNetwork<Pool>,
  posting: Parameters<typeof postInboxEntry>[1],
): Promise<boolean> {
  const devices = await postInboxEntry(network, posting);
  for (const device of devices) wakeupBusOf(network.client).device(device);
  return devices.length > 0;
}

type Deletion = "deleteCopies" | "deletePhone" | "deletePeople" | "deletePerson" | "deleteAccount";

function createDeletions(network: SandboxNetwork<Pool>): Pick<SandboxControl, Deletion> {
  return {
    deleteCopies: (phones, messages) => deleteCopies(network, phones, messages),
    deletePhone: (phone) => deletePhoneData(network, phone),
    deletePeople: () => deletePeople(network),
    deletePerson: (addresses) => deletePerson(network, addresses),
    deleteAccount: () => deleteAccountData(network),
  };
}

type Post = (phone: string, scene: ActorContext, entry: InboxEntry) => Promise<boolean>;

function createStoryControls(
  network: SandboxNetwork<Pool>,
  post: Post,
): Pick<SandboxControl, "postStatus" | "viewStatus"> {
  return {
    async postStatus(phone, story) {
      const scene = await sceneOf(network, phone, story);
      const id = newMessageId();
      const { content: said } = story;
      const content =
        said.kind === "unsupported" ? said : await storeMedia(network, `${scene.writer.phone}/${id}`, said);
      return (await post(phone, scene, storyEntry(scene.writer, id, content))) ? id : undefined;
    },
    async viewStatus(phone, from, id) {
      const scene = await sceneOf(network, phone, { from });
      return post(phone, scene, viewEntry(scene.writer, [id]));
    },
  };
}

function createCuts(network: SandboxNetwork<Pool>): Pick<SandboxControl, "drop" | "ban" | "unlink"> {
  return {
    drop: (phone) => cut(network, phone, "drop"),
    ban: (phone) => cut(network, phone, "ban"),
    unlink: (phone) => cut(network, phone, "unlink"),
  };
}

/** The chat and the actor as the paired phone sees them. */
interface ActorContext {
  chat: Jid;
  writer: SandboxPerson;
}

async function sceneOf(network: SandboxNetwork, phone: string, actor: SandboxActor): Promise<ActorContext> {
  const { from, group_jid, push_name, from_me } = actor;
  const [contact] = await findContacts(network, phone, [from]);
  const chat = group_jid ?? (contact?.known === "lid" ? lidOf(from) : phoneJid(from));
  if (from_me) return { chat, writer: await findPhoneOwner(network, phone) };
  const { name } = await findProfile(network, from);
  return { chat, writer: asSeenByPhone(contact ?? { phone: from, known: "both" }, push_name ?? name) };
}

async function write(
  network: SandboxNetwork,
  phone: string,
  message: SandboxMessage,
  { chat, writer: sender }: ActorContext,
): Promise<Extract<InboxEntry, { kind: "message" }>> {
  const { id = newMessageId(), reply_to, from_me = false, group_jid } = message;
  if (group_jid) await ensureMembers(network, group_jid, [message.from, phone]);
  const { content: said } = message;
  const content =
    said.kind === "unsupported" ? said : await storeMedia(network, `${sender.phone}/${id}`, said);
  const quoted = reply_to && (await quote(network, reply_to, phone, message.from));
  await network.client.query(
    `insert into sandbox.message (account_id, phone, id, chat, body, poll)
     values ($1, $2, $3, $4, left($5, 1000), $6) on conflict do nothing`,
    [network.account_id, sender.phone, id, chat, quoteTextOf(content), pollIn(content)],
  );
  const body = { id, from_me, sender, content: { ...content, ...(quoted && { quoted }) } };
  return { kind: "message", body: { ...body, at: new Date().toISOString() } };
}

function pollIn(content: InboundContent): string | null {
  return content.kind === "text" && content.poll ? JSON.stringify(content.poll) : null;
}

async function quote(
  network: SandboxNetwork,
  id: MessageId,
  me: string,
  other: string,
): Promise<QuotedMessage> {
  const found = await findMessage(network, id, [me, other]);
  const from_me = found?.phone === me;
  return {
    id,
    from_me,
    sender: phoneJid(found?.phone ?? other),
    ...(found?.body != null && { text: found.body }),
  };
}

interface MessageRow {
  phone: string;
  body: string | null;
}

async function findMessage(
  { client, account_id }: SandboxNetwork,
  id: MessageId,
  writers: string[],
): Promise<MessageRow | undefined> {
  const { rows } = await client.query<MessageRow>(
    "select phone, body from sandbox.message where phone = any ($1) and id = $2 and account_id = $3",
    [writers, id, account_id],
  );
  return rows[0];
}

const CUTS = {
  drop: "session = null",
  ban: "session = null, banned_at = now()",
  unlink: "session = null, unlinked_at = now()",
};

async function cut(
  { client: pool, account_id }: SandboxNetwork<Pool>,
  phone: string,
  action: keyof typeof CUTS,
): Promise<boolean> {
  const { rows } = await pool.query<{ device: number }>(
    `with before as (
       select id, session from sandbox.device
       where phone = $1 and account_id = $3 and linked_at is not null and unlinked_at is null for update
     ), changed as (
       update sandbox.device d set ${CUTS[action]} from before where d.id = before.id
       returning d.id, d.phone, before.session
     )
     insert into sandbox.ledger (device, phone, session, action, outcome, open)
     select id, phone, session, $2, 'accepted', 0 from changed
     returning device::float8 as device`,
    [phone, action, account_id],
  );
  for (const { device } of rows) wakeupBusOf(pool).device(device);
  return rows.length > 0;
}
