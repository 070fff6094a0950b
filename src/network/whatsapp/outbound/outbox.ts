import { setImmediate as nextTurn } from "node:timers/promises";
import { prepareWAMessageMedia, type proto, type WASocket } from "baileys";
import type {
  Content,
  ContentContext,
  EditOptions,
  Jid,
  MediaContent,
  MessageId,
  MessageRef,
  Presence,
  SendResult,
  TextContent,
} from "../../driver.ts";
import { isGroupJid, isLidJid, phoneOfJid } from "../../jid.ts";
import { allowConcurrentSends } from "../baileys-fixes/allow-concurrent-sends.ts";
import { silentBaileysLogger } from "../baileys-fixes/silent-baileys-logger.ts";
import {
  fromMediaRef,
  isMediaRef,
  type MediaProto,
  toMediaRef,
  type WhatsAppMediaRef,
} from "../files/whatsapp-media-ref.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { errorCodeOf } from "../operations/operation-error.ts";
import { applyTimer } from "../wire/chat-timer.ts";
import { ownMessageSecret, toSecret } from "../wire/message-secret.ts";
import { userOf } from "../wire/plain-jid.ts";
import { GROUP_ACCESS_DENIED_CODES, NOT_IN_GROUP } from "../wire/whatsapp-error.ts";
import { writeContent, writeEdit, writeReaction, writeRevoke } from "../wire/write-content.ts";
import type { ChatTimers } from "./chat-timers.ts";
import type { DeviceCache } from "./device-cache.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import { type PendingAcks, sendFailureOf } from "./pending-acks.ts";

export interface OutboxOptions {
  sock: WASocket;
  acks: PendingAcks;
  identities: IdentityStore;
  memberAddresses: MemberAddresses;
  timers: ChatTimers;
  devices: DeviceCache;
  /** For the HTTP requests of Baileys. */
  requests: RequestInit;
}

const NO_RECIPIENT: SendResult = {
  outcome: "refused",
  code: "RECIPIENT_NOT_FOUND",
  reason: "The number is not on the network.",
  retryable: false,
};

const NOT_A_MEMBER: SendResult = {
  outcome: "refused",
  code: "SEND_FAILED",
  reason: NOT_IN_GROUP.reason,
  retryable: false,
};

/** The protocol's `edit` values: an edit, deletion of an own message, deletion of another member's message. */
const EDIT = { edit: "1" };
const REVOKE = { edit: "7" };
const REVOKE_OF_OTHER = { edit: "8" };

/** Sends messages on an open connection; a message counts as sent once the network acknowledges it. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #relayMessage: WASocket["relayMessage"];

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#relayMessage = allowConcurrentSends(options.sock);
  }

  async send(to: Jid, content: Content, id: MessageId): Promise<SendResult> {
    // Yields to the event loop, so that a series of sends does not block reads and timers.
    await nextTurn();
    try {
      if (!(await this.#isOnWhatsApp(to))) return NO_RECIPIENT;
      const file = content.kind === "media" ? await this.#fileOf(content) : undefined;
      const { memberAddresses } = this.#options;
      const { me, content: named } = await memberAddresses.addressMessage(to, content);
      const secret = ownMessageSecret(this.#options.sock.authState.creds, id);
      const message = writeContent(named, { to, me, file: file?.file, secret });
      const result = await this.#relay(to, message, id);
      if (result.outcome !== "accepted") return result;
      return { ...result, secret: toSecret(secret), ...(file && { media_ref: file.ref }) };
    } catch (error) {
      return sendFailureOf(error, this.#options.sock.ws.isOpen);
    }
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
      (key) => writeEdit(key, named.content as TextContent & ContentContext, media_type),
      EDIT,
    );
  }

  delete(target: MessageRef, id: MessageId): Promise<SendResult> {
    const isOfOther = isGroupJid(target.chat) && !target.from_me;
    return this.#act(target, id, writeRevoke, isOfOther ? REVOKE_OF_OTHER : REVOKE);
  }

  react(target: MessageRef, reaction: string, id: MessageId): Promise<SendResult> {
    return this.#act(target, id, (key) => writeReaction(key, reaction));
  }

  async markRead(chat: Jid, targets: MessageRef[]): Promise<SendResult> {
    const { sock, identities, memberAddresses } = this.#options;
    const remoteJid = identities.addressOf(chat);
    return this.#do(async () => {
      const named = await memberAddresses.addressTargets(chat, targets);
      await sock.readMessages(named.map((target) => ({ ...keyOf(target), remoteJid, fromMe: false })));
    });
  }

  async setPresence(presence: Presence, to?: Jid): Promise<SendResult> {
    const { sock, identities } = this.#options;
    const name = presence === "typing" ? "composing" : presence;
    if (to !== undefined) return this.#do(() => sock.sendPresenceUpdate(name, identities.addressOf(to)));
    if (sock.authState.creds.me?.name) return this.#do(() => sock.sendPresenceUpdate(name));
    // Baileys sends no presence until it knows our name.
    return this.#do(() => sock.sendNode({ tag: "presence", attrs: { name: "~", type: name } }));
  }

  /** Free for a person whose devices are known; otherwise one query, which the send would need anyway. */
  async #isOnWhatsApp(jid: Jid): Promise<boolean> {
    const { sock, identities, devices } = this.#options;
    const { me } = identities;
    if (isGroupJid(jid) || identities.isMe(jid)) return true;
    const user = userOf(jid);
    if (await devices.get(user)) return true;
    // The send also looks up our own devices, under the same kind of address.
    const own = isLidJid(jid) ? (me.lid ?? me.jid) : me.jid;
    const found = await sock.getUSyncDevices([own, jid], true, false);
    if (found.some((device) => device.user === user)) return true;
    const phone = phoneOfJid(jid);
    if (phone === null) return true;
    const registered = await sock.onWhatsApp(phone);
    return registered?.some(({ exists }) => exists === true) ?? false;
  }

  /** Applies an action to a message, identified by the addresses of its chat. */
  async #act(
    target: MessageRef,
    id: MessageId,
    write: (key: proto.IMessageKey) => proto.IMessage,
    attrs?: Record<string, string>,
  ): Promise<SendResult> {
    const [named = target] = await this.#options.memberAddresses.addressTargets(target.chat, [target]);
    return this.#relay(target.chat, write(keyOf(named)), id, attrs);
  }

  async #do(act: () => Promise<unknown>): Promise<SendResult> {
    try {
      await act();
      return { outcome: "accepted", at: new Date() };
    } catch (error) {
      return sendFailureOf(error, this.#options.sock.ws.isOpen);
    }
  }

  async #relay(to: Jid, message: proto.IMessage, id: MessageId, attrs?: Record<string, string>) {
    await nextTurn();
    const timer = await this.#options.timers.find(to);
    if (timer) applyTimer(message, timer);
    return this.#options.acks.wait(id, async () => {
      const options = { messageId: id, ...(attrs && { additionalAttributes: attrs }) };
      return this.#relayMessage(to, message, options).then(
        () => undefined,
        (error) => refusedGroup(to, error),
      );
    });
  }

  /** Does not upload a file again that the network already has. */
  async #fileOf(content: MediaContent) {
    if (!content.bytes && isMediaRef(content.ref)) {
      return { file: fromMediaRef(content.ref) as MediaProto, ref: content.ref };
    }
    return uploadMedia(content, this.#options.sock, this.#options.requests);
  }
}

function refusedGroup(to: Jid, error: unknown): SendResult {
  if (isGroupJid(to) && GROUP_ACCESS_DENIED_CODES.includes(errorCodeOf(error) ?? 0)) return NOT_A_MEMBER;
  throw error;
}

/** The network's key of a message. */
function keyOf({ chat, id, from_me, sender }: MessageRef): proto.IMessageKey {
  const participant = isGroupJid(chat) && !from_me ? sender : undefined;
  return { remoteJid: chat, id, fromMe: from_me, ...(participant && { participant }) };
}

const EMPTY = new Uint8Array();

/** Uploads a file for its recipients; returns the part of the message that refers to it. */
async function uploadMedia(
  content: MediaContent,
  sock: Pick<WASocket, "waUploadToServer">,
  options: RequestInit,
): Promise<{ file: MediaProto; ref: WhatsAppMediaRef }> {
  if (!content.bytes) throw new Error("A media message needs its bytes.");
  const kind = content.media_type === "ptt" ? "audio" : content.media_type;
  const prepared = await prepareWAMessageMedia(
    {
      [kind]: Buffer.from(content.bytes),
      mimetype: content.mime_type,
      // Baileys runs ffmpeg and its own decoder for missing fields, without resource limits.
      ...(content.media_type === "video" && { jpegThumbnail: EMPTY }),
      ...(content.media_type === "ptt" && { ptt: true, waveform: EMPTY }),
      ...(content.seconds !== undefined && { seconds: content.seconds }),
    } as unknown as Parameters<typeof prepareWAMessageMedia>[0],
    { upload: sock.waUploadToServer, logger: silentBaileysLogger, options },
  );
  const file = prepared[`${kind}Message`] as MediaProto;
  const ref = toMediaRef(file, content.media_type);
  return { file, ref: { ...ref, ...(file.url && { url: file.url }) } };
}
