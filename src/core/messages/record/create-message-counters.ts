import { Counter, type Registry } from "prom-client";
import type { IgnoredChangeReason } from "../../../network/driver.ts";
import { ERROR_CODES } from "../../../platform/error-codes.ts";
import type { SendError } from "../../../platform/send-reasons.ts";
import type { MessageView } from "../log/message-view.ts";
import type { RefusedChangeReason } from "../log/record-message-change.ts";
import type { RefusedVoteReason } from "../polls/record-vote.ts";
import { SEND_ERROR } from "../send/send-error.ts";

/** Counts what this node has recorded, for the metrics. */
export interface MessageCounters {
  countOutcome(message: { status: string; error: Pick<SendError, "code"> | null }): void;
  countReceived(message: Pick<MessageView, "unsupported">): void;
  /** An edit, a deletion, a reaction or a vote that changed nothing. */
  countIgnoredChange(reason: IgnoredChangeReason | RefusedChangeReason | RefusedVoteReason): void;
}

export function createMessageCounters(registry: Registry): MessageCounters {
  const sends = new Counter({
    name: "waygate_sends_total",
    help: "Sends whose outcome this node recorded: sent, failed or cancelled, with the error code of a failure",
    labelNames: ["outcome", "code"],
    registers: [registry],
  });
  const received = new Counter({
    name: "waygate_messages_received_total",
    help: "Received messages that this node stored and reported as events",
    registers: [registry],
  });
  const unsupported = new Counter({
    name: "waygate_messages_unsupported_total",
    help: "Received messages of which the gateway could not read the content, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  const ignored = new Counter({
    name: "waygate_message_changes_ignored_total",
    help: "Edits, deletions, reactions and votes that changed nothing, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  // A rate needs the zero from which the first one is counted.
  sends.inc({ outcome: "sent", code: "" }, 0);
  for (const code of ["", ...SEND_CODES]) sends.inc({ outcome: "failed", code }, 0);
  return {
    countOutcome: ({ status, error }) =>
      sends.inc({ outcome: OUTCOMES.has(status) ? status : "sent", code: codeOf(error) }),
    countReceived({ unsupported: content }) {
      received.inc();
      if (content) unsupported.inc({ reason: content.reason });
    },
    countIgnoredChange: (reason) => ignored.inc({ reason }),
  };
}

const OUTCOMES = new Set(["failed", "cancelled"]);
/** With which the gateway itself ends a send. */
const SEND_CODES = new Set(Object.values(SEND_ERROR).map(({ code }) => code));
/** The codes of responses and those that only events have. */
const CODES = new Set([...Object.keys(ERROR_CODES), ...SEND_CODES]);

/** One of a known set: each value of a label is a series of its own. */
function codeOf(error: Pick<SendError, "code"> | null): string {
  if (error === null) return "";
  return CODES.has(error.code) ? error.code : "OTHER";
}
