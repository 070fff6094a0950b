import type { GroupMetadata } from "baileys";
import type { Content, Jid, MessageRef, QuotedMessage } from "../../driver.ts";
import { isGroupJid, isLidJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid, userOf } from "../stanzas/plain-jid.ts";

export interface MemberAddressesOptions {
  identities: IdentityStore;
  groupOf(group: string): Promise<GroupMetadata>;
}

/** Writer and content of a message, with the addresses that its chat uses. */
export interface AddressedMessage {
  me: Jid;
  content: Content;
}

type Addresses = ReadonlyMap<Jid, Jid>;
const AS_THEY_ARE: Addresses = new Map();

/** Converts people's addresses to those of a chat: a group identifies its members by LID or by phone number. */
export class MemberAddresses {
  readonly #options: MemberAddressesOptions;

  constructor(options: MemberAddressesOptions) {
    this.#options = options;
  }

  /**
   * Converts the quoted author, the mentions and the addresses in the text. `address`: where the message goes, which
   * for a person may differ from the chat.
   */
  async addressMessage(chat: Jid, content: Content, address = chat): Promise<AddressedMessage> {
    const { quoted, mentions = [] } = content;
    const { me } = this.#options.identities;
    if (!isGroupJid(chat)) {
      const name = isLidJid(address) && me.lid ? me.lid : me.jid;
      return { me: name, content: quoted ? { ...content, quoted: quoteTo(chat, quoted) } : content };
    }
    if (!quoted && mentions.length === 0) return { me: me.jid, content };
    const named = await this.#namesIn(chat, [
      me.jid,
      ...(quoted?.sender ? [quoted.sender] : []),
      ...mentions,
    ]);
    const nameOf = (jid: Jid): Jid => named.get(jid) ?? jid;
    return {
      me: nameOf(me.jid),
      content: {
        ...renameIn(content, mentions, nameOf),
        ...(quoted && { quoted: { ...quoted, ...(quoted.sender && { sender: nameOf(quoted.sender) }) } }),
        ...(mentions.length > 0 && { mentions: mentions.map(nameOf) }),
      },
    };
  }

  /** Converts the authors of messages. */
  async addressTargets(chat: Jid, targets: MessageRef[]): Promise<MessageRef[]> {
    if (!isGroupJid(chat)) return targets;
    const named = await this.#namesIn(
      chat,
      targets.flatMap(({ sender }) => sender ?? []),
    );
    return targets.map((target) => {
      const sender = target.sender && (named.get(target.sender) ?? target.sender);
      return sender ? { ...target, sender } : target;
    });
  }

  /** People who are not members keep their address. */
  async #namesIn(group: Jid, jids: Jid[]): Promise<Addresses> {
    if (jids.length === 0) return AS_THEY_ARE;
    const { identities, groupOf } = this.#options;
    // If the group is not accessible, the network rejects the message itself.
    const metadata = await groupOf(group).catch(() => undefined);
    if (!metadata) return AS_THEY_ARE;
    const wantsLid = metadata.addressingMode === "lid";
    const members = membersByAddress(metadata);
    const found = await identities.identifyAll(
      jids.map((jid) => ({ address: jid, other: members.get(jid) })),
    );
    return new Map(
      found.flatMap((person, i) => {
        const requested = jids[i];
        const name = wantsLid ? person?.lid : person?.jid;
        return requested && name ? [[requested, name] as const] : [];
      }),
    );
  }
}

/** A person's message in the own chat is quoted under the address of the chat. */
function quoteTo(chat: Jid, { chat: from = chat, sender, ...quoted }: QuotedMessage): QuotedMessage {
  return from === chat ? quoted : { ...quoted, chat: from, ...(sender && { sender }) };
}

/** The other address of each member who has two. */
export function membersByAddress({ participants }: GroupMetadata): Addresses {
  return new Map(
    participants.flatMap(({ id, phoneNumber, lid }) => {
      const jid = plainJid(id);
      const other = plainJid(phoneNumber ?? lid);
      if (!jid || !other) return [];
      return [
        [jid, other],
        [other, jid],
      ] as const;
    }),
  );
}

/** Clients show a mention where the text has `@` and the digits of its address. */
function renameIn(content: Content, mentions: readonly Jid[], nameOf: (jid: Jid) => Jid): Content {
  const digits = new Map(mentions.map((jid) => [userOf(jid), userOf(nameOf(jid))]));
  const rename = (text: string): string =>
    text.replace(/@(\d+)/g, (whole, user: string) => (digits.has(user) ? `@${digits.get(user)}` : whole));
  if (content.kind === "text") return { ...content, text: rename(content.text) };
  if (content.kind === "media" && content.caption) return { ...content, caption: rename(content.caption) };
  return content;
}
