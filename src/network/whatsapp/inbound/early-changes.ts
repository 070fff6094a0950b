import type { SignalKeyStore } from "baileys";
import { toPollMessage } from "../../content/poll.ts";
import type {
  Identity,
  Jid,
  MessageId,
  NetworkEvent,
  NetworkMessage,
  PollContent,
  PollVote,
} from "../../driver.ts";
import { isSamePerson } from "../../identity.ts";
import { readAddedOption, readVote } from "../wire/poll/read-poll.ts";
import { addressesOf, decryptChange, type SecretUse } from "../wire/sealed/message-secret.ts";
import { readEdit, type SealedEvent } from "../wire/sealed/read-sealed.ts";

type EditOrDeletion = SealedEvent | Extract<NetworkEvent, { type: "message_edited" | "message_deleted" }>;

/** A change whose message has not arrived, or could not be decrypted yet. */
interface EarlyChange {
  chat: Jid;
  id: MessageId;
  by: Identity;
  from_me: boolean;
  /** Milliseconds since 1970. */
  at: number;
  /** Absent: a deletion. */
  text?: string;
  sealed?: { kind: SealedEvent["kind"]; uses: readonly SecretUse[]; payload: string; iv: string };
}

/** The kind and the id under which the changes are among the keys of the pairing. */
const KIND = "early-changes";
const ID = "all";
const MOST = 64;
const MOST_OF_PERSON = 16;
/** A poll has more voters than a message has editors, whose changes remain. */
const MOST_VOTES = 48;
const MOST_BYTES = 65_536;
const MOST_BYTES_OF_PERSON = 16_384;
/** The sender's phone may be off for so long before it sends a message again. */
const KEPT_MS = 14 * 24 * 3_600_000;

type Keys = { get(kind: string, ids: string[]): Promise<Record<string, EarlyChange[] | undefined>> } & {
  set(data: Record<string, Record<string, EarlyChange[]>>): Promise<void>;
};

/** Edits, deletions and votes that arrived before their messages, sealed among the keys of the pairing. */
export class EarlyChanges {
  readonly #keys: Keys;
  #held: EarlyChange[] = [];
  /** Changes of messages that have arrived since the last save; a message may be read again until it is stored. */
  readonly #applied = new Set<EarlyChange>();

  constructor(keys: SignalKeyStore) {
    this.#keys = keys as unknown as Keys;
  }

  async load(): Promise<void> {
    const { [ID]: held = [] } = await this.#keys.get(KIND, [ID]);
    this.#held = held;
  }

  /** Resolves once the change is durable. Of too many changes, those that arrived first are dropped. */
  async hold(change: EditOrDeletion): Promise<void> {
    const early = toEarly(change);
    if (!early || sizeOf(early) > MOST_BYTES_OF_PERSON) return;
    const oldest = Date.now() - KEPT_MS;
    const pending = this.#held.filter((one) => one.at > oldest && !this.#applied.has(one));
    this.#applied.clear();
    const newestFirst = [...pending, early].toReversed();
    let [ofPerson, bytesOfPerson, bytes, votes] = [0, 0, 0, 0];
    const kept = newestFirst.filter((one) => {
      if (isVote(one) && ++votes > MOST_VOTES) return false;
      if (isSamePerson(one.by, early.by)) {
        bytesOfPerson += sizeOf(one);
        if (++ofPerson > MOST_OF_PERSON || bytesOfPerson > MOST_BYTES_OF_PERSON) return false;
      }
      bytes += sizeOf(one);
      return bytes <= MOST_BYTES;
    });
    this.#held = kept.slice(0, MOST).toReversed();
    await this.#keys.set({ [KIND]: { [ID]: this.#held } });
  }

  /**
   * The message after the changes of it that arrived before. Other people may only add options to a poll, or delete the
   * message if they may do so.
   */
  async applyTo(
    message: NetworkMessage,
    mayDelete: (by: Identity) => Promise<boolean>,
  ): Promise<NetworkMessage> {
    const changes = this.#held.filter(({ chat, id }) => chat === message.chat && id === message.id);
    if (changes.length === 0) return message;
    for (const one of changes) this.#applied.add(one);
    const isOwn = ({ by }: EarlyChange) => isSamePerson(by, message.sender);
    let deletion: EarlyChange | undefined;
    for (const one of changes.filter(isDeletion))
      if (!deletion && (isOwn(one) || (await mayDelete(one.by)))) deletion = one;
    const edits = changes.filter(isOwn).flatMap((one) => openEdit(one, message) ?? []);
    const [edit] = edits.toSorted((one, other) => other.at.getTime() - one.at.getTime());
    let edited = edit && { content: withText(message.content, edit), edited_at: edit.at };
    for (const one of changes) edited = addOption(one, message, edited) ?? edited;
    const votes = changes.flatMap((one) => openVote(one, message) ?? []);
    return {
      ...message,
      ...edited,
      ...(votes.length > 0 && { votes }),
      ...(deletion && { deleted_at: new Date(deletion.at) }),
    };
  }
}

function toEarly(change: EditOrDeletion): EarlyChange | undefined {
  const { chat, id, by, from_me, at } = change;
  const about = { chat, id, by, from_me, at: at.getTime() };
  if (change.type === "message_deleted") return about;
  if (change.type === "message_edited")
    return change.text === null ? undefined : { ...about, text: change.text };
  const { uses, payload, iv } = change.change;
  if (!HELD_KINDS.has(change.kind)) return undefined;
  return { ...about, sealed: { kind: change.kind, uses, payload: toBase64(payload), iv: toBase64(iv) } };
}

const HELD_KINDS: ReadonlySet<SealedEvent["kind"]> = new Set(["message", "event", "poll", "option", "vote"]);

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function sizeOf({ text, sealed }: EarlyChange): number {
  return 512 + (text?.length ?? 0) + (sealed?.payload.length ?? 0);
}

function isDeletion({ text, sealed }: EarlyChange): boolean {
  return text === undefined && sealed === undefined;
}

function isVote({ sealed }: EarlyChange): boolean {
  return sealed?.kind === "vote";
}

function openEdit(
  change: EarlyChange,
  message: NetworkMessage,
): { text: string; at: Date; poll?: PollContent } | undefined {
  const { id, from_me, text, sealed } = change;
  const at = new Date(change.at);
  if (text !== undefined) return { text, at };
  if (!sealed || sealed.kind === "option" || sealed.kind === "vote") return undefined;
  const plaintext = open(change, message);
  return plaintext && readEdit(plaintext, { kind: sealed.kind, id, from_me, at });
}

type Edited = Pick<NetworkMessage, "content"> & { edited_at: Date };

/** A poll with the option behind the others; undefined for other changes and messages. */
function addOption(
  change: EarlyChange,
  message: NetworkMessage,
  { content, edited_at }: Partial<Edited> = {},
): Edited | undefined {
  const before = content ?? message.content;
  if (change.sealed?.kind !== "option" || before.kind !== "text" || !before.poll) return undefined;
  const plaintext = open(change, message);
  const poll = plaintext && readAddedOption(plaintext, before.poll);
  if (!poll) return undefined;
  return {
    content: { ...before, ...toPollMessage(poll) },
    edited_at: new Date(Math.max(change.at, edited_at?.getTime() ?? 0)),
  };
}

function openVote(change: EarlyChange, message: NetworkMessage): PollVote | undefined {
  if (!isVote(change) || message.content.kind !== "text" || !message.content.poll) return undefined;
  const plaintext = open(change, message);
  const options = plaintext && readVote(plaintext);
  return options && { by: change.by, options, at: new Date(change.at) };
}

function open({ id, by, sealed }: EarlyChange, { secret, sender }: NetworkMessage): Uint8Array | undefined {
  if (!sealed || !secret) return undefined;
  const [payload, iv] = [Buffer.from(sealed.payload, "base64"), Buffer.from(sealed.iv, "base64")];
  const maker = isSamePerson(by, sender) ? sender : by;
  return decryptChange(
    { uses: sealed.uses, payload, iv },
    { id, secret, authors: addressesOf(sender), senders: addressesOf(maker) },
  );
}

/** Leaves the content of a message without text unchanged. */
function withText(
  content: NetworkMessage["content"],
  { text, poll }: { text: string; poll?: PollContent },
): NetworkMessage["content"] {
  if (content.kind === "text") return { ...content, text, ...(poll && { poll }) };
  return content.kind === "media" ? { ...content, caption: text } : content;
}
