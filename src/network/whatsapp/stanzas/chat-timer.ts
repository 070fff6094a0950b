import { proto, toNumber } from "baileys";

/** After which time the messages of a chat disappear. */
export interface ChatTimer {
  /** Seconds; 0: they stay. */
  expiration: number;
  /** When it was set, in seconds since the epoch: the latest setting applies. Absent: unknown. */
  set_at?: number;
  /** From the account's default for new chats. */
  is_default?: boolean;
}

/** Longer timers are malformed: the longest that an app offers is 90 days. */
const LONGEST_SECONDS = 366 * 86_400;
/** How far the clock of another phone may be ahead. */
const AHEAD_SECONDS = 86_400;
/** Larger times are in milliseconds, as in the history. */
const LATEST_SECONDS = 10_000_000_000;

type Time = Parameters<typeof toNumber>[0];

/** The timer with these values of the network; undefined if they state none. */
export function toTimer(expiration: number | null | undefined, setAt: Time): ChatTimer | undefined {
  const seconds = expiration ?? 0;
  const time = toNumber(setAt);
  const set_at = Math.floor(time > LATEST_SECONDS ? time / 1000 : time);
  const isLater = set_at > Date.now() / 1000 + AHEAD_SECONDS;
  if (seconds > LONGEST_SECONDS || isLater || (seconds === 0 && set_at === 0)) return undefined;
  return { expiration: seconds, ...(set_at > 0 && { set_at }) };
}

/** The timer that a message of a chat states or sets. */
export function readTimer(message: proto.IMessage, sentAt: Date): ChatTimer | undefined {
  const { protocolMessage } = message;
  if (protocolMessage?.type === proto.Message.ProtocolMessage.Type.EPHEMERAL_SETTING) {
    const { ephemeralExpiration, ephemeralSettingTimestamp } = protocolMessage;
    return toTimer(ephemeralExpiration, ephemeralSettingTimestamp || Math.floor(sentAt.getTime() / 1000));
  }
  for (const part of Object.values(message)) {
    const { contextInfo } = (part ?? {}) as { contextInfo?: proto.IContextInfo | null };
    if (contextInfo) return toTimer(contextInfo.expiration, contextInfo.ephemeralSettingTimestamp);
  }
  return undefined;
}

/** Parts that never disappear, or that are no content. */
const WITHOUT_TIMER = new Set(["reactionMessage", "protocolMessage", "messageContextInfo"]);

/**
 * Adds the timer to the content of a message, also of an edit. Without both values, recipients read that the
 * message will not disappear: https://github.com/WhiskeySockets/Baileys/issues/1687 (open).
 */
export function applyTimer(message: proto.IMessage, timer: ChatTimer): void {
  const inner = message.documentWithCaptionMessage?.message ?? message.protocolMessage?.editedMessage;
  if (inner) {
    applyTimer(inner, timer);
    return;
  }
  if (typeof message.conversation === "string") {
    message.extendedTextMessage = { text: message.conversation };
    message.conversation = null;
  }
  for (const [name, part] of Object.entries(message)) {
    if (typeof part !== "object" || part === null || WITHOUT_TIMER.has(name)) continue;
    part.contextInfo = { ...part.contextInfo, ...toContext(timer) };
  }
}

const { Initiator, Trigger } = proto.DisappearingMode;

function toContext({ expiration, set_at, is_default }: ChatTimer): proto.IContextInfo {
  return {
    expiration,
    ...(set_at && { ephemeralSettingTimestamp: set_at }),
    ...(is_default && {
      disappearingMode: { initiator: Initiator.INITIATED_BY_ME, trigger: Trigger.ACCOUNT_SETTING },
    }),
  };
}
