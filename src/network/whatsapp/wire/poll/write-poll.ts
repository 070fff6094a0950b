import type { proto } from "baileys";
import type { PollContent } from "../../../driver.ts";
import type { WireMessage } from "../../baileys-fixes/keep-later-fields.ts";

/** The version follows from the poll, as in WhatsApp Web: https://github.com/vinikjkkj/zapo/issues/229. */
export function writePoll(
  { question, options, selectable_count, hide_voters, ends_at }: PollContent,
  contextInfo: proto.IContextInfo | undefined,
): WireMessage {
  const poll = {
    name: question,
    options: options.map(({ text }) => ({ optionName: text })),
    selectableOptionsCount: selectable_count,
    contextInfo,
  };
  if (hide_voters || ends_at !== undefined) {
    const later = { ...(ends_at && { endTime: Date.parse(ends_at) }), hideParticipantName: hide_voters };
    return { pollCreationMessageV6: { ...poll, ...later } };
  }
  return selectable_count === 1 ? { pollCreationMessageV3: poll } : { pollCreationMessage: poll };
}
