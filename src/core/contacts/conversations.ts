import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { createBatchWriter } from "../../engine/batch-queue.ts";
import type { Identity, Jid } from "../../network/driver.ts";
import { isGroupJid, isLidJid, phoneJid, phoneOfJid } from "../../network/jid.ts";
import type { ContactUpdate } from "../../network/session-operations.ts";
import type { Db } from "../../platform/db/database.ts";
import { maxEntries } from "../../platform/limits/max-entries.ts";
import { canonicalNumberOf, numberVariantsOf } from "../../platform/phone/number-variants.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import { type ChatUpdate, type ConversationRef, saveChats } from "./save-chats.ts";

/** A chat and the known data of the person or group behind it. */
export interface ChatAddress {
  account_id: number;
  instance_id: number;
  jid: string;
  type: "contact" | "group";
  phone: string | null;
  lid: string | null;
  push_name: string | null;
}

export interface Conversations {
  /**
   * Creates the conversation and its contact, or updates them with new data; a LID is found under its phone.
   */
  getOrCreate(chat: ChatAddress): Promise<ConversationRef>;
  /** The one address under which a chat is stored: by phone if it is known. */
  addressOf(instanceId: number, jid: Jid): Promise<Jid>;
  /**
   * Records a change of a chat under that address, and again if the chat has moved to another address
   * meanwhile.
   */
  withCurrentAddress(instanceId: number, chat: Jid, record: (address: Jid) => Promise<void>): Promise<void>;
  /** Adds the known addresses of a person to the given ones. */
  identify(instanceId: number, who: Identity): Promise<Identity>;
  /** Invalidates the whole cache after rows have changed. */
  clearCache(): void;
  /** Stores new data of a person, without a conversation. */
  updateContact(instance: { id: number; account_id: number }, update: ContactUpdate): Promise<void>;
  /**
   * Links the LID and the phone of the other person of a one-to-one chat, when a change first reports both.
   */
  linkIdentity(instance: { id: number; account_id: number }, chat: Jid, who: Identity): Promise<void>;
}

type Person = Pick<Identity, "jid" | "lid" | "phone">;

const REMEMBERED = 50_000;
/** Another node may learn the phone behind a LID. */
const UNLINKED_MS = 60_000;

/** Finds and creates conversations and contacts; cached ones cost no query. */
export function createConversations(db: Db): Conversations {
  return new CachedConversations(db);
}

class CachedConversations implements Conversations {
  readonly #db: Db;
  readonly #known = new LRUCache<string, ConversationRef & { names: string }>(maxEntries(REMEMBERED));
  readonly #persons = new LRUCache<string, Person>(maxEntries(REMEMBERED));
  readonly #writer = createBatchWriter<ChatUpdate, ConversationRef>({
    write: (chats) =>
      saveChats(this.#db, chats, ({ instance_id, lid, jid }) => this.#invalidate(instance_id, lid, jid)),
  });

  constructor(db: Db) {
    this.#db = db;
  }

  async getOrCreate(chat: ChatAddress): Promise<ConversationRef> {
    const key = keyOf(chat.instance_id, chat.jid);
    const names = `${chat.phone ?? ""} ${chat.lid ?? ""} ${chat.push_name ?? ""}`;
    const found = this.#known.get(key);
    if (found && (found.names === names || !hasNames(chat))) return found;
    const { id, jid } = await this.#save({ ...chat, name: null, verified_name: null, has_chat: true });
    this.#known.set(key, { id, jid, names }, { ttl: isLidJid(jid) ? UNLINKED_MS : 0 });
    return { id, jid };
  }

  /** Invalidates a person's cache entries after new data. */
  #invalidate(instanceId: number, lid: string | null, jid: string): void {
    this.#persons.delete(keyOf(instanceId, jid));
    if (lid === null || lid === jid) return;
    this.#persons.delete(keyOf(instanceId, lid));
    this.#known.delete(keyOf(instanceId, lid));
  }

  /** By phone if it is known. */
  async #save(update: ChatUpdate): Promise<ConversationRef> {
    const { instance_id, phone } = update;
    const lid = update.lid ?? (isLidJid(update.jid) ? update.jid : null);
    const jid = phone !== null && isLidJid(update.jid) ? phoneJid(phone) : update.jid;
    const saved = await this.#writer.write({ ...update, jid, lid });
    this.#invalidate(instance_id, lid, saved.jid);
    return saved;
  }

  clearCache(): void {
    this.#known.clear();
    this.#persons.clear();
  }

  async addressOf(instanceId: number, jid: Jid): Promise<Jid> {
    if (!isLidJid(jid)) return jid;
    const known = this.#persons.get(keyOf(instanceId, jid));
    // The LID may have been linked to a phone meanwhile.
    return (known && !isLidJid(known.jid) ? known : await this.#find(instanceId, jid)).jid;
  }

  async withCurrentAddress(
    instanceId: number,
    chat: Jid,
    record: (address: Jid) => Promise<void>,
  ): Promise<void> {
    const address = await this.addressOf(instanceId, chat);
    await record(address);
    const now = await this.addressOf(instanceId, chat);
    if (now !== address) await record(now);
  }

  async identify(instanceId: number, who: Identity): Promise<Identity> {
    if (isWhole(who) || isGroupJid(who.jid)) return who;
    const found = await this.#findCached(instanceId, who.lid ?? who.jid);
    const { push_name } = who;
    return { jid: found.jid, lid: who.lid ?? found.lid, phone: who.phone ?? found.phone, push_name };
  }

  async updateContact(
    { id, account_id }: { id: number; account_id: number },
    update: ContactUpdate,
  ): Promise<void> {
    const { lid, ...fields } = cleanFromNetwork(update);
    const phone = fields.phone ?? (fields.jid && phoneOfJid(fields.jid));
    const jid = phone === null ? (fields.jid ?? lid) : phoneJid(phone);
    if (jid === null || isGroupJid(jid)) return;
    const base = { account_id, instance_id: id, type: "contact", has_chat: false } as const;
    await this.#save({ ...base, ...fields, jid, phone, lid });
  }

  async linkIdentity(
    instance: { id: number; account_id: number },
    chat: Jid,
    { jid, lid, phone }: Identity,
  ): Promise<void> {
    if (lid === null || phone === null) return;
    if (![jid, lid, ...addressesOf(phoneJid(phone))].includes(chat)) return;
    const known = await this.#findCached(instance.id, lid);
    if (known.phone !== null && canonicalNumberOf(known.phone) === canonicalNumberOf(phone)) return;
    const names = { name: null, push_name: null, verified_name: null };
    await this.updateContact(instance, { jid: phoneJid(phone), lid, phone, ...names });
  }

  async #findCached(instanceId: number, address: Jid): Promise<Person> {
    return this.#persons.get(keyOf(instanceId, address)) ?? this.#find(instanceId, address);
  }

  async #find(instanceId: number, jid: Jid): Promise<Person> {
    const found = await this.#db
      .selectFrom("contact")
      .select(["jid", "lid", "phone"])
      .where("instance_id", "=", instanceId)
      .where(isLidJid(jid) ? "lid" : "jid", "=", jid)
      .$castTo<Person>()
      .executeTakeFirst();
    const person = found ?? { jid, lid: null, phone: null };
    this.#persons.set(keyOf(instanceId, jid), person, { ttl: isWhole(person) ? 0 : UNLINKED_MS });
    return person;
  }
}

function isWhole({ lid, phone }: Person): boolean {
  return lid !== null && phone !== null;
}

function keyOf(instanceId: number, jid: string): string {
  return `${instanceId} ${jid}`;
}

/** A bare address adds no data. */
function hasNames(chat: ChatAddress): boolean {
  return chat.push_name !== null || chat.lid !== null;
}

/**
 * The addresses under which the log may store a chat, the given one first: a number with two formats has two.
 */
export function addressesOf(chat: string): string[] {
  const phone = phoneOfJid(chat as Jid);
  return phone === null ? [chat] : numberVariantsOf(phone).map(phoneJid);
}

/**
 * The conversation with the person or group behind an address, in any format of the number. Of two, the one
 * with messages, then the one with the given format.
 */
export async function findConversation(
  db: Db,
  instanceId: number,
  address: Jid,
): Promise<ConversationRef | undefined> {
  return db
    .selectFrom("conversation")
    .select(["id", "jid"])
    .where("instance_id", "=", instanceId)
    .where("jid", "in", addressesOf(address))
    .where("merged_into", "is", null)
    .orderBy(sql`last_message_at is null`)
    .orderBy(sql`jid <> ${address}`)
    .limit(1)
    .$castTo<ConversationRef>()
    .executeTakeFirst();
}
