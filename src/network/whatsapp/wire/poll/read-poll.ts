import { proto, toNumber } from "baileys";
import { pollOptionId } from "../../../content/poll.ts";
import { truncateText } from "../../../content/truncate-text.ts";
import type { PollContent, PollOption } from "../../../driver.ts";
import type { LaterPoll, WireMessage } from "../../baileys-fixes/keep-later-fields.ts";
import { rawFieldOf } from "../../stanzas/raw-field.ts";

/** Limits of what is read: phones send fewer options, and shorter ones. */
const OPTIONS_MAX = 100;
const OPTION_CHARACTERS = 1024;
const OPTION_HASH = /^[0-9a-f]{64}$/;

/** The poll that an opened message creates. */
export function readPoll(message: WireMessage): PollContent | undefined {
  const poll: LaterPoll | null | undefined =
    message.pollCreationMessage ??
    message.pollCreationMessageV2 ??
    message.pollCreationMessageV3 ??
    message.pollCreationMessageV5 ??
    message.pollCreationMessageV6;
  if (!poll) return undefined;
  const ends_at = readEnd(poll.endTime);
  return {
    question: poll.name ?? "",
    options: unique((poll.options ?? []).slice(0, OPTIONS_MAX).map(readOption)),
    selectable_count: poll.selectableOptionsCount ?? 0,
    ...(poll.hideParticipantName && { hide_voters: true }),
    ...(ends_at && { ends_at }),
  };
}

/** The hash is that of the whole text. */
function readOption({ optionName, optionHash }: proto.Message.PollCreationMessage.IOption): PollOption {
  const text = optionName ?? "";
  const id = optionHash && OPTION_HASH.test(optionHash) ? optionHash : pollOptionId(text);
  return { id, text: truncateText(text, OPTION_CHARACTERS) };
}

function unique(options: readonly PollOption[]): PollOption[] {
  return [...new Map(options.toReversed().map((option) => [option.id, option])).values()].toReversed();
}

const LATEST_MS = Date.UTC(9999, 11, 31);

function readEnd(endTime: number | undefined): string | undefined {
  return endTime && endTime < LATEST_MS ? new Date(endTime).toISOString() : undefined;
}

const HASH_BYTES = 32;

/** The ids of the options that a decrypted vote names; undefined if it is malformed. */
export function readVote(plaintext: Uint8Array): string[] | undefined {
  try {
    const { selectedOptions } = proto.Message.PollVoteMessage.decode(plaintext);
    const isValid = selectedOptions.length <= OPTIONS_MAX && selectedOptions.every(isHash);
    return isValid
      ? [...new Set(selectedOptions.map((hash) => Buffer.from(hash).toString("hex")))]
      : undefined;
  } catch {
    return undefined;
  }
}

function isHash({ length }: Uint8Array): boolean {
  return length === HASH_BYTES;
}

/** `pollAddOptionMessage`, its `addOption` and that one's name, which Baileys' proto does not have. */
const ADDED_OPTION = [121, 2, 1];

/** As phones allow. */
const MOST_OPTIONS = 12;
const MOST_OPTION_CHARACTERS = 100;

/** The poll with the new option behind the others; undefined if it has as many as a poll can have, or the same one. */
export function readAddedOption(plaintext: Uint8Array, poll: PollContent): PollContent | undefined {
  const name = ADDED_OPTION.reduce<Uint8Array | undefined>(
    (bytes, field) => bytes && rawFieldOf(bytes, field),
    plaintext,
  );
  if (!name?.length || poll.options.length >= MOST_OPTIONS) return undefined;
  const whole = Buffer.from(name).toString("utf8");
  const option = { id: pollOptionId(whole), text: truncateText(whole, MOST_OPTION_CHARACTERS) };
  if (poll.options.some(({ id }) => id === option.id)) return undefined;
  return { ...poll, options: [...poll.options, option] };
}

const DAY_MS = 86_400_000;

/** Orders the votes of one person, also those that a phone sends again: by the person's clock, if it is right. */
export function voteTime(at: Date, senderTimestampMs: Parameters<typeof toNumber>[0]): Date {
  const ms = toNumber(senderTimestampMs);
  return Math.abs(ms - at.getTime()) < DAY_MS ? new Date(ms) : at;
}
