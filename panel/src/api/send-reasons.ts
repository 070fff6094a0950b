import type { Messages } from "../i18n/locales.ts";

export type SendReason = keyof Messages["faults"]["reasons"];

/** The gateway's sentences about a message that was not sent; stored messages have no code that says as much. */
export const SEND_REASONS: Readonly<Record<string, SendReason>> = {
  "The send did not start in time.": "notBegun",
  "The network did not confirm the message in time.": "notConfirmed",
  "The network did not confirm the message, but it may have arrived.": "unknownOutcome",
  "The instance did not connect within the hold time.": "neverConnected",
  "The instance is logged out. Connect it again, then send the message again.": "loggedOut",
  "The network has banned the number of the instance.": "banned",
  "The instance was removed.": "removed",
  "Sends to several chats did not reach the network, and the pause that followed outlasted the hold time.":
    "neverReached",
  "The message's file no longer exists.": "fileGone",
  "The account is not active, so it cannot send.": "restricted",
  "The session cannot do this.": "notSupported",
  "It was pending in the backup that the gateway was restored from, and an operator discarded it.":
    "discarded",
  "The network did not understand the message.": "notUnderstood",
  "The network does not allow the instance to send to this chat.": "notAllowed",
  "This address no longer exists.": "noAddress",
  "The network does not accept the content of the message.": "content",
  "The network limits the messages of this instance. Send more slowly.": "limited",
  "The network considers the message malformed: the recipient may have new devices. Send it again.":
    "malformed",
  "The network refused the message.": "refused",
  "The instance is not in this group, or there is no such group.": "notMember",
};

/** A reason, the network's number in it, the number of attempts, and the network's own words. */
export interface ReadReason {
  kind: SendReason;
  number: string | undefined;
  attempts: string;
  cause: string | undefined;
}

const NUMBERED = / \((\d{1,4})\)\.$/;
const UNDELIVERED = /^The message could not be handed to the network in (one attempt|\d{1,4} attempts): /;

/** undefined: a sentence that the panel does not know. */
export function readSendReason(text: string): ReadReason | undefined {
  const [intro = "", attempts] = UNDELIVERED.exec(text) ?? [];
  if (attempts !== undefined) {
    const kind = attempts === "one attempt" ? "undeliveredOnce" : "undelivered";
    const count = attempts.replace("one", "1").replace(/ attempts?/, "");
    return { kind, number: undefined, attempts: count, cause: text.slice(intro.length) };
  }
  const kind = SEND_REASONS[text.replace(NUMBERED, ".")];
  return kind && { kind, number: NUMBERED.exec(text)?.[1], attempts: "", cause: undefined };
}
