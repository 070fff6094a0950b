import type { proto, WASocket } from "baileys";

type RelayOptions = Parameters<WASocket["relayMessage"]>[2];

/** V6 is newer than Baileys' schema. */
type PollCreation = Pick<proto.IMessage, "pollCreationMessage" | "pollCreationMessageV3"> & {
  pollCreationMessageV6?: unknown;
};

/**
 * Adds what the stanza of a poll carries. Baileys' `sendMessage` adds the node, and its `relayMessage` knows the types
 * of polls that it can decode.
 */
export function withPollStanza<Options extends Partial<RelayOptions>>(
  { pollCreationMessage, pollCreationMessageV3, pollCreationMessageV6 }: PollCreation,
  options: Options,
): Options {
  if (!(pollCreationMessage ?? pollCreationMessageV3 ?? pollCreationMessageV6)) return options;
  const meta = { tag: "meta", attrs: { polltype: "creation" } };
  return {
    ...options,
    additionalAttributes: { ...options.additionalAttributes, type: "poll" },
    additionalNodes: [...(options.additionalNodes ?? []), meta],
  };
}
