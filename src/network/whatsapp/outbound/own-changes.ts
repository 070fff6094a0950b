import { proto } from "baileys";
import type { Jid, MessageRef, OpenSessionOptions } from "../../driver.ts";
import { isGroupJid, isLidJid } from "../../jid.ts";
import type { AccountFacts } from "../keys/account-facts.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { encryptChange } from "../wire/sealed/message-secret.ts";
import type { MemberAddressesOptions } from "./member-addresses.ts";

export interface OwnChangesOptions extends Pick<OpenSessionOptions, "findOriginal"> {
  identities: IdentityStore;
  facts: Pick<AccountFacts, "areEditsEncrypted">;
  groupOf: MemberAddressesOptions["groupOf"];
}

/** A reaction that nobody would see, since the message to encrypt it under came without a secret. */
export class NoSecretError extends Error {}

/** A change of ours in the form that its chat needs: as it is, or encrypted under the secret of its message. */
export class OwnChanges {
  readonly #options: OwnChangesOptions;

  constructor(options: OwnChangesOptions) {
    this.#options = options;
  }

  /**
   * Members of a community's announcement group see encrypted reactions only: whatsmeow `EncryptReaction`. `target` names
   * people as the group does.
   */
  async sealReaction(
    target: MessageRef,
    key: proto.IMessageKey,
    plain: proto.IMessage,
  ): Promise<proto.IMessage> {
    const { identities, groupOf } = this.#options;
    const group = isGroupJid(target.chat) ? await groupOf(target.chat).catch(() => undefined) : undefined;
    if (!group?.isCommunityAnnounce) return plain;
    const secret = await this.#secretOf(target);
    if (secret === undefined)
      throw new NoSecretError("The message came without the secret of its reactions.");
    const me = identities.me.lid ?? identities.me.jid;
    const author = target.from_me ? me : (target.sender ?? me);
    const { text, senderTimestampMs } = plain.reactionMessage ?? {};
    const plaintext = proto.Message.ReactionMessage.encode({ text, senderTimestampMs }).finish();
    const sealed = encryptChange("Enc Reaction", plaintext, { id: target.id, secret, author, sender: me });
    return { encReactionMessage: { targetMessageKey: { ...key, participant: author }, ...sealed } };
  }

  /** Edits are encrypted once the account says so, if the message has a secret. */
  async sealEdit(target: MessageRef, key: proto.IMessageKey, plain: proto.IMessage): Promise<proto.IMessage> {
    const secret = this.#options.facts.areEditsEncrypted ? await this.#secretOf(target) : undefined;
    if (secret === undefined) return plain;
    const me = await this.#nameIn(key.remoteJid as Jid);
    const plaintext = proto.Message.encode(proto.Message.fromObject(plain)).finish();
    const sealed = encryptChange("Message Edit", plaintext, {
      id: target.id,
      secret,
      author: me,
      sender: me,
    });
    const { MESSAGE_EDIT: secretEncType } = proto.Message.SecretEncryptedMessage.SecretEncType;
    return { secretEncryptedMessage: { targetMessageKey: key, ...sealed, secretEncType } };
  }

  async #secretOf({ chat, id }: MessageRef): Promise<string | undefined> {
    return (await this.#options.findOriginal?.(chat, id))?.secret;
  }

  /** Our own address as recipients at this address see it. */
  async #nameIn(address: Jid): Promise<Jid> {
    const { identities, groupOf } = this.#options;
    const { jid, lid } = identities.me;
    const group = isGroupJid(address) ? await groupOf(address).catch(() => undefined) : undefined;
    const usesLid = group ? group.addressingMode === "lid" : isLidJid(address);
    return usesLid && lid ? lid : jid;
  }
}
