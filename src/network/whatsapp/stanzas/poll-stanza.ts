import type { WASocket } from "baileys";
import type { WireMessage } from "../baileys-fixes/keep-later-fields.ts";

type RelayOptions = Parameters<WASocket["relayMessage"]>[2];

/**
 * Adds what the stanza of a poll carries. Baileys' `sendMessage` adds the node, and its `relayMessage` knows the types
 * of polls that it can decode.
 */
export function withPollStanza<Options extends Partial<RelayOptions>>(
  { pollCreationMessage, pollCreationMessageV3, pollCreationMessageV6 }: WireMessage,
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
