import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageReceiptType, proto, WASocket } from "baileys";
import { LRUCache } from "lru-cache";
import { maxEntries } from "../../../platform/limits/max-entries.ts";
import type {
  Content,
  ContentContext,
  EditOptions,
  Jid,
  MediaContent,
  MessageId,
  MessageRef,
  Presence,
  ReadOptions,
  SendResult,
  StatusContent,
  TextContent,
} from "../../driver.ts";
import { isGroupJid, isLidJid } from "../../jid.ts";
import { allowConcurrentSends, NobodyReachedError } from "../baileys-fixes/allow-concurrent-sends.ts";
import { uploadMedia } from "../files/upload-media.ts";
import { fromMediaRef, isMediaRef, type MediaProto } from "../files/whatsapp-media-ref.ts";
import type { ContactTokens } from "../keys/contact-tokens.ts";
import { sendAppPatch } from "../operations/change-app-state.ts";
import { type MessageSetting, messagePatch } from "../operations/message-patch.ts";
import { errorCodeOf, toFailedResult } from "../operations/operation-error.ts";
import { applyTimer } from "../stanzas/chat-timer.ts";
import { STORIES } from "../stanzas/stanza.ts";
import { withMeta } from "../stanzas/with-meta.ts";
import { ownMessageSecret, toSecret } from "../wire/sealed/message-secret.ts";
import { GROUP_ACCESS_DENIED_CODES } from "../wire/whatsapp-error.ts";
import {
  writeAlbum,
  writeContent,
  writeEdit,
  writePin,
  writeReaction,
  writeRevoke,
  writeStatus,
} from "../wire/write-content.ts";
import type { ChatTimers } from "./chat-timers.ts";
import { addressWithLid, type FindAddressOptions, findAddress, otherAddressOf } from "./find-address.ts";
import { findAudience } from "./find-audience.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import { NoSecretError, type OwnChanges } from "./own-changes.ts";
import { type AckResult, type PendingAcks, sendFailureOf } from "./pending-acks.ts";
import { NO_SECRET, NOBODY_REACHED, NOT_A_MEMBER, settingRefused } from "./send-refusals.ts";

export interface OutboxOptions extends FindAddressOptions {
  acks: PendingAcks;
  tokens: ContactTokens;
  memberAddresses: MemberAddresses;
  timers: ChatTimers;
  changes: OwnChanges;
  /** For the HTTP requests of Baileys. */
  requests: RequestInit;
}

/** The protocol's `edit` values: an edit, a pin, deletion of an own message, deletion of another member's message. */
const EDIT = { edit: "1" };
const PIN = { edit: "2" };
const REVOKE = { edit: "7" };
const REVOKE_OF_OTHER = { edit: "8" };

const MOST_ALBUMS = 100;

/** Sends messages on an open connection; a message counts as sent once the network acknowledges it. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #relayMessage: WASocket["relayMessage"];
  /** The albums that recipients know. One that is forgotten is sent again under its id, and shown once. */
  readonly #albums = new LRUCache<MessageId, true>(maxEntries(MOST_ALBUMS));

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#relayMessage = allowConcurrentSends(options.sock);
  }

  async send(to: Jid, content: Content, id: MessageId): Promise<SendResult> {
    // Yields to the event loop, so that a series of sends does not block reads and timers.
    await nextTurn();
    try {
      const address = await findAddress(this.#options, to);
      if (typeof address !== "string") return address;
      const file = content.kind === "media" ? await this.#fileOf(content) : undefined;
      const { memberAddresses } = this.#options;
      const refused = await this.#announceAlbum(to, address, content);
      if (refused) return refused;
      const secret = ownMessageSecret(this.#options.sock.authState.creds, id);
      const write = async (address: Jid) => {
        const { me, content: named } = await memberAddresses.addressMessage(to, content, address);
        return this.#withTimer(to, writeContent(named, { to: address, me, file: file?.file, secret }));
      };
      const result = await this.#deliver(to, address, write, { messageId: id });
      if (result.outcome !== "accepted") return result;
      return { ...result, secret: toSecret(secret), ...(file && { media_ref: file.ref }) };
    } catch (error) {
      return sendFailureOf(error, this.#options.sock.ws.isOpen);
    }
  }

  /** Sends a story to these people. */
  async sendStatus(content: StatusContent, audience: readonly Jid[], id: MessageId): Promise<SendResult> {
    try {
      const statusJidList = await findAudience(this.#options, audience);
      if (statusJidList.length === 0) return NOBODY_REACHED;
      const file = content.kind === "media" ? await this.#fileOf(content) : undefined;
      const secret = ownMessageSecret(this.#options.sock.authState.creds, id);
      const message = writeStatus(content, secret, file?.file);
      const result = await this.#relay(STORIES, message, { messageId: id, statusJidList });
      return result.outcome === "misaddressed" ? result.refusal : result;
    } catch (error) {
      return sendFailureOf(error, this.#options.sock.ws.isOpen);
    }
  }

  /** Sends the message that holds an album together, before the first item of this session. Its result unless accepted. */
  async #announceAlbum(to: Jid, address: Jid, content: Content): Promise<SendResult | undefined> {
    const album = content.kind === "media" ? content.album : undefined;
    if (!album || this.#albums.has(album.id)) return undefined;
    const { memberAddresses, sock } = this.#options;
    const secret = ownMessageSecret(sock.authState.creds, album.id);
    const write = async (address: Jid) => {
      const { me, content: named } = await memberAddresses.addressMessage(to, content, address);
      return this.#withTimer(to, writeAlbum(named, album, { to: address, me, secret }));
    };
    const result = await this.#deliver(to, address, write, { messageId: album.id });
    if (result.outcome !== "accepted") return result;
    this.#albums.set(album.id, true);
    return undefined;
  }

  async edit(
    target: MessageRef,
    text: string,
    { id, media_type, mentions }: EditOptions,
  ): Promise<SendResult> {
    const content = { kind: "text", text, ...(mentions && { mentions }) } as const;
    const named = await this.#options.memberAddresses.addressMessage(target.chat, content);
    return this.#act(
      target,
      id,
      async (key) => {
        const plain = writeEdit(key, named.content as TextContent & ContentContext, media_type);
        return this.#options.changes.sealEdit(target, key, await this.#withTimer(target.chat, plain));
      },
      EDIT,
    );
  }

  delete(target: MessageRef, id: MessageId): Promise<SendResult> {
    const isOfOther = isGroupJid(target.chat) && !target.from_me;
    return this.#act(target, id, async (key) => writeRevoke(key), isOfOther ? REVOKE_OF_OTHER : REVOKE);
  }

  react(target: MessageRef, reaction: string, id: MessageId): Promise<SendResult> {
    return this.#act(target, id, (key, named) =>
      this.#options.changes.sealReaction(named, key, writeReaction(key, reaction)),
    );
  }

  pin(target: MessageRef, seconds: number, id: MessageId): Promise<SendResult> {
    return this.#act(target, id, async (key) => writePin(key, seconds), PIN);
  }

  /** Changes what the own devices know of a message. */
  async set(target: MessageRef, setting: MessageSetting): Promise<SendResult> {
    const { sock, identities, memberAddresses } = this.#options;
    try {
      const [named = target] = await memberAddresses.addressTargets(target.chat, [target]);
      const chat = await identities.addressOf(target.chat);
      await sendAppPatch(sock, messagePatch({ ...named, chat }, setting));
      return { outcome: "accepted", at: new Date() };
    } catch (error) {
      const failed = toFailedResult(error);
      return failed.outcome === "refused"
        ? settingRefused(failed.reason)
        : sendFailureOf(error, sock.ws.isOpen);
    }
  }

  async markRead(chat: Jid, targets: MessageRef[], { played }: ReadOptions = {}): Promise<SendResult> {
    const { sock, identities, memberAddresses } = this.#options;
    return this.#do(async () => {
      const remoteJid = await identities.addressOf(chat);
      const named = await memberAddresses.addressTargets(chat, targets);
      const keys = named.map((target) => ({ ...keyOf(target), remoteJid, fromMe: false }));
      await sock.readMessages(keys);
      if (!played) return;
      const isShown = (await sock.fetchPrivacySettings()).readreceipts === "all";
      await sock.sendReceipts(keys, (isShown ? "played" : "played-self") as MessageReceiptType);
    });
  }

  async setPresence(presence: Presence, to?: Jid): Promise<SendResult> {
    const { sock } = this.#options;
    const name = presence === "typing" ? "composing" : presence;
    if (to !== undefined)
      return this.#do(async () => sock.sendPresenceUpdate(name, await addressWithLid(this.#options, to)));
    if (sock.authState.creds.me?.name) return this.#do(() => sock.sendPresenceUpdate(name));
    // Baileys sends no presence until it knows our name.
    return this.#do(() => sock.sendNode({ tag: "presence", attrs: { name: "~", type: name } }));
  }

  /** Applies an action to a message, identified by the addresses of its chat. */
  async #act(
    target: MessageRef,
    id: MessageId,
    write: (key: proto.IMessageKey, named: MessageRef) => Promise<proto.IMessage>,
    attrs?: Record<string, string>,
  ): Promise<SendResult> {
    const { sock, memberAddresses } = this.#options;
    try {
      const [named = target] = await memberAddresses.addressTargets(target.chat, [target]);
      const address = await findAddress(this.#options, target.chat);
      if (typeof address !== "string") return address;
      const options = { messageId: id, ...(attrs && { additionalAttributes: attrs }) };
      const writeTo = (chat: Jid) => write(keyOf({ ...named, chat }), named);
      return await this.#deliver(target.chat, address, writeTo, options);
    } catch (error) {
      if (error instanceof NoSecretError) return NO_SECRET;
      return sendFailureOf(error, sock.ws.isOpen);
    }
  }

  /**
   * Sends to the address, and if the network refuses it once more to the person's other one. What the network accepts
   * then is used from now on.
   */
  async #deliver(
    chat: Jid,
    address: Jid,
    write: (address: Jid) => Promise<proto.IMessage>,
    options: RelayOptions,
  ): Promise<SendResult> {
    const { identities, facts, devices } = this.#options;
    const relay = async (to: Jid) => this.#relay(to, await write(to), options);
    const result = await relay(address);
    if (result.outcome !== "misaddressed") return result;
    const other = await otherAddressOf(this.#options, chat, address);
    if (!other || !(await devices.reaches(other))) return result.refusal;
    const again = await relay(other);
    if (again.outcome === "misaddressed") return result.refusal;
    if (again.outcome === "accepted") {
      if (isLidJid(other)) facts.latchLidMigrated();
      identities.useAddress(chat, other);
    }
    return again;
  }

  async #withTimer(chat: Jid, message: proto.IMessage): Promise<proto.IMessage> {
    const timer = await this.#options.timers.find(chat);
    if (timer) applyTimer(message, timer);
    return message;
  }

  async #do(act: () => Promise<unknown>): Promise<SendResult> {
    try {
      await act();
      return { outcome: "accepted", at: new Date() };
    } catch (error) {
      return sendFailureOf(error, this.#options.sock.ws.isOpen);
    }
  }

  async #relay(to: Jid, message: proto.IMessage, options: RelayOptions): Promise<AckResult> {
    await nextTurn();
    return this.#options.acks.wait(options.messageId, async () => {
      const introduction = isGroupJid(to) || to === STORIES ? {} : await this.introduce(to);
      return this.#relayMessage(to, message, merge(withMeta(introduction, message), options)).then(
        () => undefined,
        (error) => refusedByBaileys(to, error),
      );
    });
  }

  /**
   * What a message to a person carries besides its content: without the person's number the phone shows an unknown person, without
   * a token nothing. Baileys adds the person's own token, except for a single device.
   */
  async introduce(to: Jid, isForDevice = false): Promise<Introduction> {
    const { identities, tokens } = this.#options;
    const person = isLidJid(to) ? await identities.identify(to) : undefined;
    const known = isForDevice ? await tokens.tokenNodes(to) : [];
    return {
      additionalAttributes: person?.phone ? { peer_recipient_pn: person.jid } : {},
      additionalNodes: [...known, ...(await tokens.nodesFor(to))],
    };
  }

  /** Does not upload a file again that the network already has. */
  async #fileOf(content: MediaContent) {
    if (!content.bytes && isMediaRef(content.ref)) {
      return { file: fromMediaRef(content.ref) as MediaProto, ref: content.ref };
    }
    return uploadMedia(content, this.#options.sock, this.#options.requests);
  }
}

interface RelayOptions {
  messageId: MessageId;
  /** Of a story: who gets it. */
  statusJidList?: Jid[];
  additionalAttributes?: Record<string, string>;
}

type Introduction = Pick<Parameters<WASocket["relayMessage"]>[2], "additionalAttributes" | "additionalNodes">;

function merge(introduction: Introduction, options: RelayOptions) {
  const additionalAttributes = { ...introduction.additionalAttributes, ...options.additionalAttributes };
  return { ...introduction, ...options, additionalAttributes };
}

function refusedByBaileys(to: Jid, error: unknown): SendResult {
  if (error instanceof NobodyReachedError) return NOBODY_REACHED;
  if (isGroupJid(to) && GROUP_ACCESS_DENIED_CODES.includes(errorCodeOf(error) ?? 0)) return NOT_A_MEMBER;
  throw error;
}

/** The network's key of a message. */
function keyOf({ chat, id, from_me, sender }: MessageRef): proto.IMessageKey {
  const participant = isGroupJid(chat) && !from_me ? sender : undefined;
  return { remoteJid: chat, id, fromMe: from_me, ...(participant && { participant }) };
}
