import type { proto, WASocket } from "baileys";

/** V6 is newer than Baileys' schema. */
type SentMessage = Pick<
  proto.IMessage,
  "pollCreationMessage" | "pollCreationMessageV3" | "imageMessage" | "videoMessage" | "audioMessage"
> & { pollCreationMessageV6?: unknown };

type RelayOptions = Partial<Parameters<WASocket["relayMessage"]>[2]>;

/**
 * Adds what the network must know of a message that it cannot read: that it is a poll, which Baileys' `relayMessage` does
 * not know of every version, or that phones show its file only once.
 */
export function withMeta<Options extends RelayOptions>(options: Options, message: SentMessage): Options {
  const { pollCreationMessage, pollCreationMessageV3, pollCreationMessageV6 } = message;
  const { imageMessage, videoMessage, audioMessage } = message;
  if (pollCreationMessage ?? pollCreationMessageV3 ?? pollCreationMessageV6)
    return {
      ...withNode(options, { polltype: "creation" }),
      additionalAttributes: { ...options.additionalAttributes, type: "poll" },
    };
  const file = imageMessage ?? videoMessage ?? audioMessage;
  return file?.viewOnce ? withNode(options, { view_once: "true" }) : options;
}

function withNode<Options extends RelayOptions>(options: Options, attrs: Record<string, string>): Options {
  return { ...options, additionalNodes: [...(options.additionalNodes ?? []), { tag: "meta", attrs }] };
}
