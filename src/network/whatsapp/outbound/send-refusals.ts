import type { SendResult } from "../../driver.ts";
import { NOT_IN_GROUP } from "../wire/whatsapp-error.ts";

export const NO_RECIPIENT: SendResult = {
  outcome: "refused",
  code: "RECIPIENT_NOT_FOUND",
  why: "recipient_not_found",
  reason: "The number is not on the network.",
  retryable: false,
};

export const NOBODY_REACHED: SendResult = {
  outcome: "refused",
  code: "SEND_FAILED",
  why: "no_device",
  reason:
    "WhatsApp names no device of the recipient for which a message can be encrypted, so nobody could read it.",
  retryable: true,
};

export const NO_SECRET: SendResult = {
  outcome: "refused",
  code: "SEND_FAILED",
  why: "no_secret",
  reason:
    "Reactions in this group are encrypted, and the message came without the secret for it, so nobody would see the reaction.",
  retryable: false,
};

export const NOT_A_MEMBER: SendResult = {
  outcome: "refused",
  code: "RECIPIENT_NOT_FOUND",
  why: "not_a_member",
  reason: NOT_IN_GROUP.reason,
  retryable: false,
};

/** Of a change that the own devices share. */
export function settingRefused(reason: string): SendResult {
  return { outcome: "refused", code: "SEND_FAILED", why: "refused", reason, retryable: true };
}
