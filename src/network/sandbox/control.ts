import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { Jid, MessageId, Quoted } from "../driver.ts";
import { newMessageId, phoneJid } from "../ids.ts";
import type { Actor, Incoming, SandboxControl } from "../sandbox-control.ts";
import { textOf } from "./arrival.ts";
import { keepAlive } from "./keep-alive.ts";
import type { Letter } from "./letter.ts";
import { postLetter } from "./mailbox.ts";
import { storeMedia } from "./media.ts";
import { ownerOf, type Person } from "./numbers.ts";
import { scan } from "./scan.ts";
import { wakesOf } from "./wakes.ts";

/** Acts from any process; sessions elsewhere hear of it within their poll. */
export function createSandboxControl(pool: Pool): SandboxControl {
  keepAlive(pool);
  const post = async (phone: string, actor: Actor, letter: Letter): Promise<boolean> => {
    const devices = await postLetter(pool, phone, chatOf(actor), letter);
    for (const device of devices) wakesOf(pool).device(device);
    return devices.length > 0;
  };
  return {
    scan: (qrOrCode, phone) => scan(pool, qrOrCode, phone),
    async receive(phone, message) {
      const letter = await write(pool, phone, message);
      return (await post(phone, message, letter)) ? letter.body.id : undefined;
    },
    async react(phone, act) {
      const from_me = (await findMessage(pool, act.message_id, [phone])) !== undefined;
      const body = { id: act.message_id, from_me, by: writerOf(phone, act), reaction: act.reaction };
      return post(phone, act, { kind: "reaction", body });
    },
    edit(phone, act) {
      const body = { id: act.message_id, from_me: act.from_me ?? false, by: writerOf(phone, act) };
      return post(phone, act, { kind: "edited", body: { ...body, text: act.text } });
    },
    delete(phone, act) {
      const body = { id: act.message_id, from_me: act.from_me ?? false, by: writerOf(phone, act) };
      return post(phone, act, { kind: "deleted", body });
    },
    read(phone, act) {
      const body = { ids: act.message_ids, from_me: !act.from_me, status: "read" as const };
      return post(phone, act, { kind: "status", body });
    },
    async call(phone, act) {
      const call_id = randomBytes(16).toString("hex").toUpperCase();
      const body = { from: writerOf(phone, act), call_id, video: act.video ?? false };
      return (await post(phone, act, { kind: "call", body })) ? call_id : undefined;
    },
    drop: (phone) => cut(pool, phone, "drop"),
    ban: (phone) => cut(pool, phone, "ban"),
    unlink: (phone) => cut(pool, phone, "unlink"),
  };
}

function chatOf({ from, group_jid }: Actor): Jid {
  return group_jid ?? phoneJid(from);
}

function writerOf(phone: string, { from, push_name, from_me }: Actor): Person {
  return from_me ? ownerOf(phone) : { phone: from, push_name: push_name ?? null };
}

async function write(
  pool: Pool,
  phone: string,
  message: Incoming,
): Promise<Extract<Letter, { kind: "message" }>> {
  const { id = newMessageId(), reply_to, from_me = false } = message;
  const sender = writerOf(phone, message);
  const content = await storeMedia(pool, `${sender.phone}/${id}`, message.content);
  const quoted = reply_to && (await quote(pool, reply_to, phone, message.from));
  await pool.query(
    "insert into sandbox.message (phone, id, chat, body) values ($1, $2, $3, left($4, 1000)) on conflict do nothing",
    [sender.phone, id, chatOf(message), textOf(content)],
  );
  const body = { id, from_me, sender, content: { ...content, ...(quoted && { quoted }) } };
  return { kind: "message", body: { ...body, at: new Date().toISOString() } };
}

async function quote(pool: Pool, id: MessageId, me: string, other: string): Promise<Quoted> {
  const found = await findMessage(pool, id, [me, other]);
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

async function findMessage(pool: Pool, id: MessageId, writers: string[]): Promise<MessageRow | undefined> {
  const { rows } = await pool.query<MessageRow>(
    "select phone, body from sandbox.message where phone = any ($1) and id = $2",
    [writers, id],
  );
  return rows[0];
}

const CUTS = {
  drop: "session = null",
  ban: "session = null, banned_at = now()",
  unlink: "session = null, unlinked_at = now()",
};

async function cut(pool: Pool, phone: string, action: keyof typeof CUTS): Promise<boolean> {
  const { rows } = await pool.query<{ device: number }>(
    `with before as (
       select id, session from sandbox.device
       where phone = $1 and linked_at is not null and unlinked_at is null for update
     ), changed as (
       update sandbox.device d set ${CUTS[action]} from before where d.id = before.id
       returning d.id, d.phone, before.session
     )
     insert into sandbox.ledger (device, phone, session, action, outcome, open)
     select id, phone, session, $2, 'accepted', 0 from changed
     returning device::float8 as device`,
    [phone, action],
  );
  for (const { device } of rows) wakesOf(pool).device(device);
  return rows.length > 0;
}
