import type { proto } from "baileys";
import { toPollMessage } from "../../content/poll.ts";
import type {
  IgnoredChangeReason,
  MessageId,
  NetworkEvent,
  NetworkMessage,
  OpenSessionOptions,
  OriginalMessage,
  PollContent,
  UnknownTextReason,
} from "../../driver.ts";
import type { DecryptedMessage } from "../journal/read-stanza.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { TimerStore } from "../keys/timer-store.ts";
import { readAddedOption, readVote } from "../wire/poll/read-poll.ts";
import { readInboundMessage } from "../wire/read-inbound-message.ts";
import { addressesOf, decryptChange } from "../wire/sealed/message-secret.ts";
import { readComment, readEdit, readReactionText, type SealedEvent } from "../wire/sealed/read-sealed.ts";
import type { EarlyChanges } from "./early-changes.ts";

/** An event, or one that can be read only after the earlier events of its chat are stored. */
export type ReportableEvent = NetworkEvent | (() => Promise<NetworkEvent | undefined>);

export interface MessageChangesOptions extends Pick<OpenSessionOptions, "findOriginal" | "mayDelete"> {
  identities: IdentityStore;
  timers: TimerStore;
  early: EarlyChanges;
  /** Of a message of this device, in base64. */
  ownSecret(id: MessageId): string;
}

type Change = SealedEvent | Extract<NetworkEvent, { type: "message_edited" | "message_deleted" }>;

const REMEMBERED = 1_000;

/** Reads the messages of one session, and changes of messages: encrypted ones, and those that arrive too early. */
export class MessageChanges {
  readonly #options: MessageChangesOptions;
  /** The latest changes, which their makers cannot change. */
  readonly #keys = new Set<string>();

  constructor(options: MessageChangesOptions) {
    this.#options = options;
  }

  /** Undefined if users would see nothing. */
  async read(decrypted: DecryptedMessage): Promise<ReportableEvent | undefined> {
    const read = await this.#read(decrypted);
    switch (read?.type) {
      case "message":
        return async () => ({ type: "message", message: await this.#applyEarly(read.message) });
      case "sealed":
      case "message_edited":
      case "message_deleted":
        return () => this.#resolve(read, decrypted);
      default:
        return read;
    }
  }

  /** A message of a chat in which nothing waits; undefined for everything else. */
  async readMessage(decrypted: DecryptedMessage): Promise<NetworkMessage | undefined> {
    const read = await this.#read(decrypted);
    return read?.type === "message" ? this.#applyEarly(read.message) : undefined;
  }

  #applyEarly(message: NetworkMessage): Promise<NetworkMessage> {
    const { early, mayDelete = async () => false } = this.#options;
    return early.applyTo(message, (by) => mayDelete(message.chat, by));
  }

  #read(decrypted: DecryptedMessage): ReturnType<typeof readInboundMessage> {
    return readInboundMessage(decrypted, this.#options.identities, this.#options.timers);
  }

  async #resolve(change: Change, decrypted: DecryptedMessage): Promise<NetworkEvent | undefined> {
    const own = keyOf(change, decrypted.message.key.id ?? "");
    const target = keyOf(change, change.id);
    if (target === own || this.#keys.has(target)) return ignored("cyclic");
    const original = await this.#options.findOriginal?.(change.chat, change.id);
    if (!original || original.unreadable) await this.#options.early.hold(change);
    this.#remember(own);
    return change.type === "sealed" ? this.#open(change, original, decrypted) : change;
  }

  #remember(key: string): void {
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > REMEMBERED && oldest !== undefined) this.#keys.delete(oldest);
  }

  async #open(
    sealed: SealedEvent,
    original: OriginalMessage | undefined,
    decrypted: DecryptedMessage,
  ): Promise<NetworkEvent> {
    const { id, by, change } = sealed;
    const { ownSecret, identities } = this.#options;
    const secret = original?.secret ?? (original?.from_me ? ownSecret(id) : undefined);
    if (!original || secret === undefined) return unopened(sealed, "no_secret");
    const author = original.sender ?? identities.me;
    // The log may be older than the knowledge of the writer's other address.
    const authors = addressesOf((await identities.identify(author.jid, author.lid)) ?? author);
    const plaintext = decryptChange(change, { id, secret, authors, senders: addressesOf(by) });
    const opened = plaintext && (await this.#readOpened(plaintext, sealed, original, decrypted));
    return opened ?? unopened(sealed, "undecryptable");
  }

  async #readOpened(
    plaintext: Uint8Array,
    sealed: SealedEvent,
    original: OriginalMessage,
    decrypted: DecryptedMessage,
  ): Promise<NetworkEvent | undefined> {
    const { kind, chat, id, from_me, by, at } = sealed;
    if (kind === "comment") return this.#readComment(plaintext, original, id, decrypted);
    if (kind === "reaction") {
      const reaction = readReactionText(plaintext);
      if (reaction === undefined) return undefined;
      return { type: "message_reaction", chat, id, from_me: original.from_me, by, at, reaction };
    }
    const about = { chat, id, from_me, by };
    if (kind === "vote") {
      const options = original.poll ? readVote(plaintext) : undefined;
      return options && { type: "poll_voted", chat, id, from_me: original.from_me, by, options, at };
    }
    if (kind === "option") {
      const added = original.poll ? readAddedOption(plaintext, original.poll) : undefined;
      return added && { type: "message_edited", ...about, at, ...pollEdit(added), is_open: true };
    }
    const edit = readEdit(plaintext, sealed);
    return edit && { type: "message_edited", ...about, ...edit };
  }

  /** The comment as a message that replies to the one it is about. */
  async #readComment(
    plaintext: Uint8Array,
    { from_me, sender, text }: OriginalMessage,
    id: MessageId,
    { message, stanza }: DecryptedMessage,
  ): Promise<NetworkEvent | undefined> {
    const comment = readComment(plaintext, message.message ?? ({} as proto.IMessage));
    const read = await readInboundMessage(
      { message: { ...message, message: comment }, stanza },
      this.#options.identities,
    );
    if (read?.type !== "message") return undefined;
    const quoted = { id, from_me, ...(sender && { sender: sender.jid }), ...(text !== null && { text }) };
    return { type: "message", message: { ...read.message, content: { ...read.message.content, quoted } } };
  }
}

function pollEdit(poll: PollContent): { text: string; poll: PollContent } {
  return { text: toPollMessage(poll).text, poll };
}

/** Names a message of the person who makes the change: others may choose the same id. */
function keyOf({ chat, by }: Change, id: string): string {
  return `${chat} ${by.jid} ${id}`;
}

function unopened({ kind, chat, id, from_me, by, at }: SealedEvent, reason: UnknownTextReason): NetworkEvent {
  if (kind === "reaction" || kind === "comment" || kind === "vote") return ignored(reason);
  return { type: "message_edited", chat, id, from_me, by, at, text: null, reason };
}

function ignored(reason: IgnoredChangeReason): NetworkEvent {
  return { type: "change_ignored", reason };
}
