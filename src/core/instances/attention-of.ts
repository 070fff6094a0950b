import type { AttentionReason } from "../../network/driver.ts";
import type { InstanceRow } from "./instance-row.ts";

/** The displayed texts, by code. */
export const ATTENTION_MESSAGES: Readonly<Record<AttentionReason, string>> = {
  passkey_challenge:
    "WhatsApp demands the passkey of this account from the linked session, which no gateway can give. Open WhatsApp on the phone and follow what it asks. If the session is logged out, connect the instance and link it again.",
  queue_withheld:
    "WhatsApp has announced messages that waited for this session, and does not deliver them. Reconnect the instance. If that does not help, log it out and link it again, and ask the senders of missing messages to send them once more.",
};

/** An unanswered demand ends in a logout; an older one was answered. */
const SHOWN_MS = 24 * 3_600_000;

/** The demand shown for an instance; null if there is none, or if it is older than a day. */
export function attentionOf({ attention }: Pick<InstanceRow, "attention">) {
  if (!attention || Date.now() - Date.parse(attention.since) > SHOWN_MS) return null;
  const message = ATTENTION_MESSAGES[attention.code];
  return { code: attention.code, message, since: new Date(attention.since) };
}
