import type { SignalKeyStore } from "baileys";
import type { Identity, Jid } from "../../driver.ts";
import { isGroupJid, isLidJid, lidJid, phoneJid, phoneOfJid } from "../../jid.ts";
import { plainJid, userOf } from "../stanzas/plain-jid.ts";
import type { AccountFacts } from "./account-facts.ts";
import type { ItemCache } from "./session-caches.ts";

export interface IdentityStoreOptions {
  keys: Pick<SignalKeyStore, "get" | "set">;
  me(): { id: string; lid?: string; name?: string };
  facts: Pick<AccountFacts, "isLidMigrated">;
  /** The address that the network accepted for a chat after it refused the usual one. */
  accepted: ItemCache<Jid>;
  /** The known other addresses of a group's members, from memory only. */
  membersOf(group: Jid): ReadonlyMap<Jid, Jid> | undefined;
}

/** Maps the two addresses of each person, phone number and LID, to one identity. */
export class IdentityStore {
  readonly #options: IdentityStoreOptions;

  constructor(options: IdentityStoreOptions) {
    this.#options = options;
  }

  get me(): Identity {
    const { id, lid, name } = this.#options.me();
    const jid = plainJid(id) ?? phoneJid("");
    return { jid, lid: plainJid(lid) ?? null, phone: phoneOfJid(jid), push_name: name || null };
  }

  isMe(address: string | null | undefined): boolean {
    const jid = plainJid(address);
    const { me } = this;
    return jid !== undefined && (jid === me.jid || jid === me.lid);
  }

  /** Identifies a person by an address, and by the other one if the network provides it or it is stored. */
  async identify(
    address: string,
    other?: string | null,
    pushName?: string | null,
  ): Promise<Identity | undefined> {
    const jid = plainJid(address);
    if (!jid) return undefined;
    if (this.isMe(jid)) return { ...this.me, push_name: pushName ?? this.me.push_name };
    const known = plainJid(other) ?? (await this.#otherOf(jid));
    const [lid, phone] = isLidJid(jid) ? [jid, known] : [known, jid];
    return {
      jid: phone ?? jid,
      lid: lid ?? null,
      phone: phone ? phoneOfJid(phone) : null,
      push_name: pushName ?? null,
    };
  }

  /** Like `identify`, for many addresses with one lookup. */
  async identifyAll(
    requested: readonly { address: string; other?: string | null | undefined }[],
  ): Promise<(Identity | undefined)[]> {
    const ids = requested.flatMap(({ address, other }) => {
      const jid = other ? undefined : plainJid(address);
      return jid ? [mappingId(jid)] : [];
    });
    if (ids.length > 0) await this.#options.keys.get("lid-mapping", ids);
    return Promise.all(requested.map(({ address, other }) => this.identify(address, other)));
  }

  /** Like `identifyAll`, for people named in a chat: a group provides the other address of its members. */
  identifyIn(chat: Jid, addresses: readonly string[]): Promise<(Identity | undefined)[]> {
    const members = isGroupJid(chat) ? this.#options.membersOf(chat) : undefined;
    return this.identifyAll(
      addresses.map((address) => ({ address, other: members?.get(plainJid(address) ?? ("" as Jid)) })),
    );
  }

  /** Stores the addresses of people of whom the network names both. */
  async learn(people: readonly { jid: string; other?: string }[]): Promise<void> {
    const mapping: Record<string, string> = {};
    for (const { jid, other } of people) {
      const [one, two] = [plainJid(jid), plainJid(other)];
      if (!one || !two || isLidJid(one) === isLidJid(two)) continue;
      mapping[mappingId(one)] = userOf(two);
      mapping[mappingId(two)] = userOf(one);
    }
    if (Object.keys(mapping).length > 0) await this.#options.keys.set({ "lid-mapping": mapping });
  }

  /** The one address under which a chat is stored: the phone number if known. */
  async chatOf(address: string, other?: string | null): Promise<Jid | undefined> {
    return (await this.identify(address, other))?.jid;
  }

  /**
   * The address that reaches a chat from this account: a person's LID if the account is migrated and the LID is
   * known, otherwise the phone number if known.
   */
  async addressOf(chat: Jid): Promise<Jid> {
    if (isGroupJid(chat)) return chat;
    const { accepted, facts } = this.#options;
    const known = accepted.get(chat);
    if (known) return known;
    const person = await this.identify(chat);
    return (facts.isLidMigrated && person?.lid) || (person?.jid ?? chat);
  }

  /** The network refuses the usual address of this chat, and accepts this one. */
  useAddress(chat: Jid, address: Jid): void {
    this.#options.accepted.set(chat, address);
  }

  async #otherOf(jid: Jid): Promise<Jid | undefined> {
    const id = mappingId(jid);
    const { [id]: user } = await this.#options.keys.get("lid-mapping", [id]);
    if (!user) return undefined;
    return isLidJid(jid) ? phoneJid(user) : lidJid(user);
  }
}

/** The key under which Baileys stores a person's other address. */
function mappingId(jid: Jid): string {
  return isLidJid(jid) ? `${userOf(jid)}_reverse` : userOf(jid);
}
