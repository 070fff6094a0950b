import type {
  BaileysEventMap,
  BinaryNode,
  Chat,
  Contact,
  GroupMetadata,
  SignalKeyStore,
  WAMessageKey,
  WAMessageUpdate,
  WASocket,
} from "baileys";
import type { Jid, MessageId, NetworkEvent } from "../../driver.ts";
import { isGroupJid, isLidJid } from "../../jid.ts";
import type { ConnectionContext } from "../connection/connection-context.ts";
import type { GroupMetadataCache } from "../keys/group-metadata-cache.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import { resyncAppState } from "../operations/change-app-state.ts";
import { findNumbers } from "../operations/find-numbers.ts";
import { toTimer } from "../stanzas/chat-timer.ts";
import { plainJid, userOf } from "../stanzas/plain-jid.ts";
import { readChat, readHistoryChat } from "../wire/read-chat.ts";
import { readGroupChange, readGroupTimer, readWholeGroup } from "../wire/read-group-change.ts";
import { readLabel, readLabelAssignment } from "../wire/read-label.ts";
import { readPresence } from "../wire/read-presence.ts";

interface RefreshLidOptions {
  sock: WASocket;
  identities: IdentityStore;
  keys: SignalKeyStore;
  /** Remembers for an hour who was looked up. */
  reported: ItemCache<string>;
}

export interface SyncListenersOptions {
  sock: WASocket;
  context: ConnectionContext;
  groupMetadata: GroupMetadataCache;
  /** Values that every message repeats and that were already reported. */
  reported: ItemCache<string>;
}

const SERVER = "s.whatsapp.net";
const PASSKEY_DEMAND = "NotificationIntegrityChallengeRequest";
/** All contacts share one queue, because their reports are short. */
const CONTACTS = "contacts";
/** All labels share one queue, since a label comes before its chats. */
const LABELS = "labels";

/** Handles the contacts, chats and groups of one socket. */
export class SyncListeners {
  readonly #options: SyncListenersOptions;
  /** The network has requested a refresh of all groups. */
  #areGroupsDirty = false;

  constructor(options: SyncListenersOptions) {
    this.#options = options;
    const { context } = options;
    const { ev, ws } = options.sock;
    ev.on("contacts.upsert", (contacts) => this.#reportContacts(contacts));
    ev.on("contacts.update", (contacts) => this.#reportContacts(contacts.filter((one) => this.#isNew(one))));
    ev.on("lid-mapping.update", ({ lid, pn }) => this.#reportAddressPair({ id: pn, lid }));
    ev.on("chats.update", (chats) => this.#reportChats(chats));
    ev.on("messages.update", (updates) => this.#reportStars(updates));
    ev.on("labels.edit", (label) => context.report(LABELS, Promise.resolve(readLabel(label))));
    ev.on("labels.association", (change) =>
      context.report(LABELS, readLabelAssignment(change, context.identities)),
    );
    ev.on("groups.upsert", (groups) => this.#reportGroups(groups));
    ev.on("groups.update", (groups) => this.#onGroups(groups));
    ev.on("creds.update", ({ accountSyncCounter, me }) => {
      if (accountSyncCounter !== undefined) void this.#readChatsAgain();
      if (me?.name) this.#reportOwnName(me.name);
    });
    ws.on("CB:ack,class:message", (node: BinaryNode) => this.#onAck(node));
    ws.on("CB:notification,type:w:gp2", (node: BinaryNode) => this.#onGroup(node));
    ws.on("CB:notification,type:mex", (node: BinaryNode) => this.#onPasskeyDemand(node));
    for (const stanza of ["CB:presence", "CB:chatstate"])
      ws.on(stanza, (node: BinaryNode) => this.#onPresence(node));
    ws.on("CB:ib,,dirty", (node: BinaryNode) => this.#onDirty(node));
  }

  /** WhatsApp demands the account's passkey from this session; without a response, it logs the session out. */
  #onPasskeyDemand({ attrs, content }: BinaryNode): void {
    const update = Array.isArray(content) ? content.find(({ tag }) => tag === "update") : undefined;
    if (attrs.from !== SERVER || update?.attrs.op_name !== PASSKEY_DEMAND) return;
    this.#options.context.report(
      "attention",
      Promise.resolve({ type: "attention", code: "passkey_challenge" }),
    );
  }

  /** Names and chats from before the pairing; resolves once all of them are stored. */
  async reportHistory({ contacts, chats }: BaileysEventMap["messaging-history.set"]): Promise<void> {
    const { reporter, identities } = this.#options.context;
    for (const contact of contacts) await reporter.report(CONTACTS, readContact(contact, identities));
    for (const chat of chats) {
      await this.#learnTimer(chat);
      await reporter.report(chat.id ?? "", readHistoryChat(chat, identities));
    }
  }

  async #learnTimer({ id, ephemeralExpiration, ephemeralSettingTimestamp }: Chat): Promise<void> {
    const { identities, timers } = this.#options.context;
    const timer = toTimer(ephemeralExpiration, ephemeralSettingTimestamp);
    const chat = timer && id && (await identities.chatOf(id));
    if (chat) await timers.learn(chat, timer);
  }

  #onAck(node: BinaryNode): void {
    const { sock, context, reported } = this.#options;
    const { identities, keyStore: keys } = context;
    refreshLid(node, { sock, identities, keys, reported }).catch(() => {});
  }

  #reportContacts(contacts: readonly Partial<Contact>[]): void {
    const { context } = this.#options;
    for (const contact of contacts) context.report(CONTACTS, readContact(contact, context.identities));
  }

  #reportOwnName(name: string): void {
    const { context, reported } = this.#options;
    if (reported.get("own name") === name) return;
    reported.set("own name", name);
    context.report(CONTACTS, Promise.resolve({ type: "profile_updated", name }));
  }

  /** Each entry of the address book repeats the pair of addresses. */
  #reportAddressPair(pair: { id: string; lid: string }): void {
    const { reported } = this.#options;
    const key = `pair ${pair.id}`;
    if (reported.get(key) === pair.lid) return;
    reported.set(key, pair.lid);
    this.#reportContacts([pair]);
  }

  /** Every message repeats the name of its writer. */
  #isNew({ id, notify, verifiedName }: Partial<Contact>): boolean {
    const { reported } = this.#options;
    if (!id) return false;
    const names = JSON.stringify([notify, verifiedName]);
    if (reported.get(id) === names) return false;
    reported.set(id, names);
    return true;
  }

  #reportChats(chats: readonly Partial<Chat>[]): void {
    const { context, reported } = this.#options;
    for (const chat of chats) context.report(chat.id ?? "", readChat(chat, context.identities, reported));
  }

  #reportStars(updates: readonly WAMessageUpdate[]): void {
    const { context } = this.#options;
    for (const { key, update } of updates) {
      if (typeof update.starred !== "boolean") continue;
      context.report(key.remoteJid ?? "", readStar(key, update.starred, context.identities));
    }
  }

  /** On the first read, Baileys drops app state of chats that the history sync has not delivered yet. */
  async #readChatsAgain(): Promise<void> {
    const { sock } = this.#options;
    // After a failure, the next change brings them.
    await resyncAppState(sock, ["regular_low", "regular_high"]).catch(() => {});
  }

  #onGroup(node: BinaryNode): void {
    const { context, groupMetadata } = this.#options;
    const group = (node.attrs.from ?? "") as Jid;
    groupMetadata.delete(group);
    const timer = readGroupTimer(node);
    if (timer) void context.timers.learn(group, timer).catch(() => {});
    context.report(group, readGroupChange(node, context.identities));
  }

  #onPresence(node: BinaryNode): void {
    const { context } = this.#options;
    context.report(`presence ${node.attrs.from}`, readPresence(node, context.identities));
  }

  #onDirty({ content }: BinaryNode): void {
    const [dirty] = Array.isArray(content) ? content : [];
    if (dirty?.attrs.type === "groups") this.#areGroupsDirty = true;
  }

  /** Baileys also emits this event for our own requests, and with partial data from notifications. */
  #onGroups(updates: readonly Partial<GroupMetadata>[]): void {
    const whole = updates.filter(isWhole);
    if (!this.#areGroupsDirty || whole.length === 0) return;
    this.#areGroupsDirty = false;
    this.#reportGroups(whole);
  }

  #reportGroups(metadata: readonly GroupMetadata[]): void {
    const { context, groupMetadata } = this.#options;
    for (const group of metadata) {
      groupMetadata.set(group);
      const event: Promise<NetworkEvent | undefined> = readWholeGroup(group, context.identities);
      context.report(group.id, event);
    }
  }
}

/** The phone does not tell when. */
async function readStar(
  { remoteJid, id, fromMe }: WAMessageKey,
  starred: boolean,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const chat = await identities.chatOf(remoteJid ?? "");
  if (!chat || !id) return undefined;
  const about = { chat, id: id as MessageId, from_me: fromMe === true, by: identities.me, at: new Date() };
  return { type: "message_starred", ...about, starred };
}

function isWhole(update: Partial<GroupMetadata>): update is GroupMetadata {
  return update.id !== undefined && update.participants !== undefined;
}

/** The event of new data about a person; undefined without any, and for groups and ourselves. */
async function readContact(
  { id, lid, phoneNumber, name, notify, verifiedName }: Partial<Contact>,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const address = plainJid(id);
  if (!address || isGroupJid(address) || identities.isMe(address)) return undefined;
  const other = isLidJid(address) ? phoneNumber : lid;
  if (!other && !name && !notify && !verifiedName) return undefined;
  const person = await identities.identify(address, other);
  if (!person) return undefined;
  return {
    type: "contact_updated",
    contact: {
      jid: isLidJid(person.jid) ? null : person.jid,
      lid: isLidJid(person.jid) ? person.jid : person.lid,
      phone: person.phone,
      name: name || null,
      push_name: notify || null,
      verified_name: verifiedName || null,
    },
  };
}

/**
 * Looks up the LID of a message's recipient again, by number, if the network's ack calls the known one outdated: the
 * number belongs to a new account. Upstream: https://github.com/WhiskeySockets/Baileys/issues/2662 (closed, not done).
 */
async function refreshLid({ attrs }: BinaryNode, options: RefreshLidOptions): Promise<void> {
  if (attrs.refresh_lid !== "true") return;
  const { sock, identities, keys, reported } = options;
  const person = await identities.identify(attrs.from ?? "");
  const key = `refreshed ${person?.phone}`;
  if (!person?.phone || reported.get(key)) return;
  reported.set(key, "yes");
  const found = (await findNumbers(sock, [person.phone])).get(person.phone);
  // The owner of the old LID no longer has this number.
  if (person.lid && found?.lid && found.lid !== person.lid)
    await keys.set({ "lid-mapping": { [`${userOf(person.lid)}_reverse`]: null } });
}
