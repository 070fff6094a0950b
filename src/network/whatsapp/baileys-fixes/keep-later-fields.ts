// Baileys 7.0.0-rc14 drops the fields of `Message` after number 114, and those of a poll after 8: their messages are lost.
// Not reported upstream; the numbers are from https://github.com/wppconnect-team/wa-proto (2.3000.1045816814).
import { proto } from "baileys";
import { rawFieldOf, rawFieldsOf } from "../stanzas/raw-field.ts";

/** Fields of `Message` that Baileys does not know. */
export interface LaterFields {
  newsletterAdminProfileMessage?: proto.Message.IFutureProofMessage | null;
  spoilerMessage?: proto.Message.IFutureProofMessage | null;
  pollCreationMessageV6?: LaterPoll | null;
  conditionalRevealMessage?: Words | null;
  pollAddOptionMessage?: Words | null;
  eventInviteMessage?: Words | null;
  groupRootKeyShare?: Words | null;
  paymentReminderMessage?: Words | null;
  splitPaymentMessage?: Words | null;
  newsletterAdminProfileStatusMessage?: proto.Message.IFutureProofMessage | null;
  rootSecretDistributeMessage?: Words | null;
  splitPaymentUpdateMessage?: Words | null;
  musicMessage?: Words | null;
  statusLinkPreviewMetadata?: Words | null;
  botPlatformRegistrationSuccessMessage?: proto.Message.IFutureProofMessage | null;
}

export interface LaterPoll extends proto.Message.IPollCreationMessage {
  /** Milliseconds since 1970. */
  endTime?: number;
  hideParticipantName?: boolean;
}

/** A part of which only the texts that its sender has written are read. */
export interface Words {
  words?: string;
}

/** A message with the fields that Baileys drops. */
export interface WireMessage extends proto.IMessage, LaterFields {
  /** Numbers of fields that nobody knew when this was written; at most 16. */
  unknownFields?: number[];
  /** What it was decoded from. */
  [RAW]?: Uint8Array;
}

const RAW = Symbol("the bytes of a message");

/** The bytes from which Baileys has decoded the message. */
export function rawBytesOf(message: WireMessage | null | undefined): Uint8Array | undefined {
  return message?.[RAW];
}

type LaterName = keyof LaterFields | "pollResultSnapshotMessageV3";
type Decode = (bytes: Uint8Array) => unknown;

const { FutureProofMessage, PollCreationMessage, PollResultSnapshotMessage } = proto.Message;
const wrapper: Decode = (bytes) => FutureProofMessage.decode(bytes);
const words =
  (...fields: number[]): Decode =>
  (bytes) => ({ words: firstText(bytes, fields) });

const POLL_V6 = 119;

/** By number. */
export const LATER_FIELDS = new Map<number, readonly [LaterName, Decode]>([
  // Baileys expects it at 114.
  [115, ["pollResultSnapshotMessageV3", (bytes) => PollResultSnapshotMessage.decode(bytes)]],
  [116, ["newsletterAdminProfileMessage", wrapper]],
  [118, ["spoilerMessage", wrapper]],
  [POLL_V6, ["pollCreationMessageV6", decodePoll]],
  [120, ["conditionalRevealMessage", words()]],
  [121, ["pollAddOptionMessage", words()]],
  [122, ["eventInviteMessage", words(6, 3)]],
  [123, ["groupRootKeyShare", words()]],
  [124, ["paymentReminderMessage", words(3)]],
  [125, ["splitPaymentMessage", words(3)]],
  [126, ["newsletterAdminProfileStatusMessage", wrapper]],
  [127, ["rootSecretDistributeMessage", words()]],
  [128, ["splitPaymentUpdateMessage", words()]],
  [129, ["musicMessage", words()]],
  [130, ["statusLinkPreviewMetadata", words()]],
  [131, ["botPlatformRegistrationSuccessMessage", wrapper]],
]);

type MessageDecoder = typeof proto.Message.decode & { keepsLaterFields?: true };
type Reader = Exclude<Parameters<MessageDecoder>[0], Uint8Array>;

type MessageEncoder = typeof proto.Message.encode;

/** Makes every message, also one within another, keep the fields that Baileys drops; of ours, a poll's. */
export function keepLaterFields(): void {
  const decode: MessageDecoder = proto.Message.decode;
  if (decode.keepsLaterFields) return;
  const keeping: MessageDecoder = (input: Reader | Uint8Array, ...rest) => {
    const from = input instanceof Uint8Array ? 0 : input.pos;
    const message = decode(input, ...rest);
    const bytes = input instanceof Uint8Array ? input : input.buf.subarray(from, input.pos);
    return Object.assign(message, laterFieldsIn(bytes), { [RAW]: bytes });
  };
  keeping.keepsLaterFields = true;
  proto.Message.decode = keeping;
  const encode: MessageEncoder = proto.Message.encode;
  proto.Message.encode = (message: WireMessage, ...rest) => {
    const written = encode(message, ...rest);
    const { pollCreationMessageV6: poll } = message;
    return poll ? written.uint32(tagOf(POLL_V6, BYTES)).bytes(encodePoll(poll)) : written;
  };
}

const [VARINT, BYTES] = [0, 2];
const [END_TIME, HIDE_PARTICIPANT_NAME] = [9, 10];

function tagOf(number: number, type: number): number {
  return number * 8 + type;
}

function encodePoll(poll: LaterPoll): Uint8Array {
  const written = PollCreationMessage.encode(poll);
  if (poll.endTime) written.uint32(tagOf(END_TIME, VARINT)).int64(poll.endTime);
  if (poll.hideParticipantName) written.uint32(tagOf(HIDE_PARTICIPANT_NAME, VARINT)).bool(true);
  return written.finish();
}

function decodePoll(bytes: Uint8Array): LaterPoll {
  const poll: LaterPoll = PollCreationMessage.decode(bytes);
  for (const { number, value } of rawFieldsOf(bytes)) {
    if (typeof value !== "number") continue;
    if (number === END_TIME) poll.endTime = value;
    if (number === HIDE_PARTICIPANT_NAME) poll.hideParticipantName = value !== 0;
  }
  return poll;
}

const MOST_UNKNOWN = 16;

function laterFieldsIn(bytes: Uint8Array): Partial<WireMessage> {
  const found: Record<string, unknown> = {};
  const unknown: number[] = [];
  for (const { number, value } of rawFieldsOf(bytes)) {
    if (KNOWN_NUMBERS.has(number)) continue;
    const later = LATER_FIELDS.get(number);
    if (later && value instanceof Uint8Array) found[later[0]] = later[1](value);
    else if (unknown.length < MOST_UNKNOWN) unknown.push(number);
  }
  return unknown.length > 0 ? { ...found, unknownFields: unknown } : found;
}

/** The numbers of the fields that Baileys' decoder reads. */
const KNOWN_NUMBERS: ReadonlySet<number> = new Set(
  Object.keys(proto.Message.prototype).map((name) => {
    const bytes = proto.Message.encode({ [name]: name === "conversation" ? "" : {} }).finish();
    const [field] = rawFieldsOf(bytes);
    return field?.number ?? 0;
  }),
);

function firstText(bytes: Uint8Array, fields: readonly number[]): string | undefined {
  const found = fields.map((field) => rawFieldOf(bytes, field)).find((value) => value && value.length > 0);
  return found && Buffer.from(found).toString("utf8");
}
