import type { Messages } from "../i18n/locales.ts";

type Faults = Messages["faults"];
export type FaultCode = keyof Faults["codes"];
export type IssueKind = Exclude<keyof Faults["issues"], "other">;

/** A sentence of the gateway, recognised: its kind, and the values in it. */
export interface Issue {
  kind: IssueKind;
  a: string;
  b: string;
}

/** The gateway's English sentences, without a full stop. The first match counts. */
const KINDS: readonly (readonly [pattern: RegExp, kind: IssueKind])[] = [
  [/^contains (.{1,8} \(.{1,8}\)), which is not part of a phone number$/, "sign"],
  [/^was changed by a spreadsheet/, "spreadsheet"],
  [/^contains more than one phone number/, "several"],
  [/^is not a phone number$/, "noNumber"],
  [/^is not a number of any country/, "impossible"],
  [/^is not a number of the country "?([^"\s]{1,100})/, "context"],
  [/^can be (\+\d+), or ([+\w-]+)/, "ambiguous"],
  [/^must have (\d+) to (\d+) digits/, "digits"],
  [/^has no country code/, "country"],
  [/^names the same lead as line (\d+)$/, "twice"],
  [/^must be (?:a time in ISO 8601|a moment such as)/, "moment"],
  [/^must be a date such as/, "date"],
  [/^the file is empty$/, "emptyFile"],
  [/^(?:is empty|must not be empty)$/, "empty"],
  [/^is required(?:$|[:,])/, "required"],
  [/^is longer than (\d+) characters$/, "long"],
  [/^must have at least (\d+) characters$/, "short"],
  [/^must be a whole number from (-?[\d.]+) to (-?[\d.]+)(?: or null)?$/, "wholeRange"],
  [/^must be a whole number of at least (-?[\d.]+)(?: or null)?$/, "wholeLeast"],
  [/^must be a whole number(?: or null)?$/, "whole"],
  [/^must be (?:a number from|between) (-?[\d.]+) (?:to|and) (-?[\d.]+)(?: or null)?$/, "range"],
  [/^must be a number of at least (-?[\d.]+)(?: or null)?$/, "least"],
  [/^must be a number(?: or null)?$/, "number"],
  [/^must be a number such as/, "decimal"],
  [/^must be a URL$/, "url"],
  [/^must be an e-mail address$/, "email"],
  [/^must be true or false$/, "flag"],
  [/^must be one of (.+)$/, "oneOf"],
  [/^must have at most (\d+) entries$/, "entriesMost"],
  [/^has more cells than the first line, which has (\d+)$/, "cells"],
  [/^is not a line of CSV/, "quotes"],
  [/^must be the id of a lead$/, "contactId"],
  [/^has the wrong format$/, "format"],
  [/^is not valid$/, "invalid"],
  [/^The receiver responded with (\d+)$/, "receiver"],
  [/^No delivery has succeeded for (\d+) days$/, "silent"],
  [/^n8n was starting/, "starting"],
];

/** undefined: a sentence that the panel does not know. */
export function readIssue(text: string): Issue | undefined {
  const plain = text.replace(/\.$/, "");
  for (const [pattern, kind] of KINDS) {
    const found = pattern.exec(plain);
    if (found) return { kind, a: found[1] ?? "", b: found[2] ?? "" };
  }
  return undefined;
}

/** A reason such as `phone: is required`, in its field and its issue. */
export function splitReason(text: string): { field: string | undefined; issue: string } {
  const [, field, issue = text] = /^([a-z_]+(?:\.[^:]{1,100})?): (.*)$/s.exec(text) ?? [];
  return { field, issue };
}

/** Codes whose general sentence leaves open what exactly is wrong; the gateway's own words name it. */
const OPEN = new Set<string>([
  "VALIDATION_ERROR",
  "FORBIDDEN",
  "QUOTA_EXCEEDED",
  "CONFLICT",
  "CAMPAIGN_STATE",
  "NOT_SUPPORTED",
  "SEND_FAILED",
  "CONNECT_FAILED",
  "MEDIA_DOWNLOAD_FAILED",
] satisfies FaultCode[]);

export function needsDetail(code: string): boolean {
  return OPEN.has(code);
}

type SendReason = keyof Messages["faults"]["reasons"];

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
