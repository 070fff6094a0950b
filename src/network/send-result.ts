/**
 * The result of a send or an action. `not_sent`: it never reached the network, so a retry is safe.
 * `is_offline`: there was no connection, so the result says nothing about the message. `unknown`: it may have
 * reached the network, so only a retry with the same id is safe.
 */
export type SendResult =
  | {
      outcome: "accepted";
      at: Date;
      /** For a file: the data for `downloadMedia`. */
      media_ref?: unknown;
      /** Of a message: the secret that went out with it, as in `NetworkMessage`. */
      secret?: string;
    }
  | {
      outcome: "refused";
      code: SendErrorCode;
      why: RefusalReason;
      /** The network's own code. */
      number?: number;
      /** The sentence for both. */
      reason: string;
      retryable: boolean;
      until?: Date;
    }
  | { outcome: "not_sent"; reason: string; is_offline?: boolean }
  | { outcome: "unknown"; reason: string };

export type SendErrorCode =
  | "RECIPIENT_NOT_FOUND"
  | "REACHOUT_TIMELOCK"
  | "SEND_FAILED"
  | "CONFLICT"
  | "NOT_SUPPORTED";

/** Why a network refuses a message; the reasons of failed messages explain each. */
export type RefusalReason =
  | "new_chats_locked"
  | "recipient_not_found"
  | "not_a_member"
  | "no_device"
  | "no_secret"
  | "not_supported"
  | "unreadable"
  | "not_understood"
  | "not_allowed"
  | "no_address"
  | "content_refused"
  | "rate_limited"
  | "must_write_first"
  | "malformed"
  | "refused";
