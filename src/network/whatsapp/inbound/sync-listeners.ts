import type { BaileysEventMap, BinaryNode, Chat, Contact, GroupMetadata, WASocket } from "baileys";
import type { Jid, NetworkEvent } from "../../driver.ts";
import type { ConnectionContext } from "../connection-context.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import { resyncAppState } from "../operations/change-app-state.ts";
import type { GroupMetadataCache } from "../outbound/group-metadata-cache.ts";
import { readChat, readHistoryChat } from "../wire/read-chat.ts";
import { readContact } from "../wire/read-contact.ts";
import { readGroupChange, readWholeGroup } from "../wire/read-group-change.ts";

export interface SyncListenersOptions {
  sock: WASocket;
  desk: ConnectionContext;
  groups: GroupMetadataCache;
  /** What every message brings along and was told before. */
  told: ItemCache<string>;
}

const SERVER = "s.whatsapp.net";
const PASSKEY_DEMAND = "NotificationIntegrityChallengeRequest";
/** All contacts keep one order, as none of them waits for long. */
const CONTACTS = "contacts";

/** What one socket brings of contacts, chats and groups. */
export class SyncListeners {
  readonly #options: SyncListenersOptions;
  /** The network has asked to look at all groups again. */
  #areGroupsDirty = false;

  constructor(options: SyncListenersOptions) {
    this.#options = options;
    const { ev, ws } = options.sock;
    ev.on("contacts.upsert", (contacts) => this.#tellContacts(contacts));
    ev.on("contacts.update", (contacts) => this.#tellContacts(contacts.filter((one) => this.#isNew(one))));
    ev.on("lid-mapping.update", ({ lid, pn }) => this.#tellPair({ id: pn, lid }));
    ev.on("chats.update", (chats) => this.#tellChats(chats));
    ev.on("groups.upsert", (groups) => this.#tellGroups(groups));
    ev.on("groups.update", (groups) => this.#hearGroups(groups));
    ev.on("creds.update", ({ accountSyncCounter, me }) => {
      if (accountSyncCounter !== undefined) void this.#readChatsAgain();
      if (me?.name) this.#tellOwnName(me.name);
    });
    ws.on("CB:notification,type:w:gp2", (node: BinaryNode) => this.#hearGroup(node));
    ws.on("CB:notification,type:mex", (node: BinaryNode) => this.#hearDemand(node));
    ws.on("CB:ib,,dirty", (node: BinaryNode) => this.#hearDirt(node));
  }

  /** WhatsApp wants the passkey of the account from this session; unanswered, it ends in a logout. */
  #hearDemand({ attrs, content }: BinaryNode): void {
    const update = Array.isArray(content) ? content.find(({ tag }) => tag === "update") : undefined;
    if (attrs.from !== SERVER || update?.attrs.op_name !== PASSKEY_DEMAND) return;
    this.#options.desk.tell("attention", Promise.resolve({ type: "attention", code: "passkey_challenge" }));
  }

  /** Names and chats from before; resolves once all of it is stored. */
  async tellHistory({ contacts, chats }: BaileysEventMap["messaging-history.set"]): Promise<void> {
    const { reports, people } = this.#options.desk;
    for (const contact of contacts) await reports.tell(CONTACTS, readContact(contact, people));
    for (const chat of chats) await reports.tell(chat.id ?? "", readHistoryChat(chat, people));
  }

  #tellContacts(contacts: readonly Partial<Contact>[]): void {
    const { desk } = this.#options;
    for (const contact of contacts) desk.tell(CONTACTS, readContact(contact, desk.people));
  }

  #tellOwnName(name: string): void {
    const { desk, told } = this.#options;
    if (told.get("own name") === name) return;
    told.set("own name", name);
    desk.tell(CONTACTS, Promise.resolve({ type: "profile_updated", name }));
  }

  /** Each entry of the address book tells the pair of addresses once more. */
  #tellPair(pair: { id: string; lid: string }): void {
    const { told } = this.#options;
    const key = `pair ${pair.id}`;
    if (told.get(key) === pair.lid) return;
    told.set(key, pair.lid);
    this.#tellContacts([pair]);
  }

  /** Every message tells the name of its writer again. */
  #isNew({ id, notify, verifiedName }: Partial<Contact>): boolean {
    const { told } = this.#options;
    if (!id) return false;
    const names = JSON.stringify([notify, verifiedName]);
    if (told.get(id) === names) return false;
    told.set(id, names);
    return true;
  }

  #tellChats(chats: readonly Partial<Chat>[]): void {
    const { desk, told } = this.#options;
    for (const chat of chats) desk.tell(chat.id ?? "", readChat(chat, desk.people, told));
  }

  /** The client library's first reading of them loses what is about chats that the history has not brought yet. */
  async #readChatsAgain(): Promise<void> {
    const { sock } = this.#options;
    // Should it fail they come with the next change.
    await resyncAppState(sock, ["regular_low", "regular_high"]).catch(() => {});
  }

  #hearGroup(node: BinaryNode): void {
    const { desk, groups } = this.#options;
    const group = (node.attrs.from ?? "") as Jid;
    groups.forget(group);
    desk.tell(group, readGroupChange(node, desk.people));
  }

  #hearDirt({ content }: BinaryNode): void {
    const [dirty] = Array.isArray(content) ? content : [];
    if (dirty?.attrs.type === "groups") this.#areGroupsDirty = true;
  }

  /** The client library tells this also of what we asked for, and in pieces of what the notification told. */
  #hearGroups(updates: readonly Partial<GroupMetadata>[]): void {
    const whole = updates.filter(isWhole);
    if (!this.#areGroupsDirty || whole.length === 0) return;
    this.#areGroupsDirty = false;
    this.#tellGroups(whole);
  }

  #tellGroups(metadata: readonly GroupMetadata[]): void {
    const { desk, groups } = this.#options;
    for (const group of metadata) {
      groups.keep(group);
      const event: Promise<NetworkEvent | undefined> = readWholeGroup(group, desk.people);
      desk.tell(group.id, event);
    }
  }
}

function isWhole(update: Partial<GroupMetadata>): update is GroupMetadata {
  return update.id !== undefined && update.participants !== undefined;
}
