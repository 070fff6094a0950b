import type { ParamsIn, ReasonTable } from "./issue-codes.ts";

/** Why a message failed: more than its error code says; `docs/reference/errors.md` is generated from this. */
export const SEND_REASONS = {
  not_begun: [],
  not_confirmed: [],
  unknown_outcome: [],
  never_connected: [],
  logged_out: [],
  banned: [],
  removed: [],
  never_reached: [],
  undelivered: ["attempts"],
  file_gone: [],
  account_restricted: [],
  sandbox_off: [],
  not_supported: [],
  discarded: [],
  anonymised: [],
  cancelled: [],
  new_chats_locked: [],
  recipient_not_found: [],
  not_a_member: [],
  no_device: [],
  no_secret: [],
  unreadable: [],
  not_understood: [],
  not_allowed: [],
  no_address: [],
  content_refused: [],
  rate_limited: [],
  must_write_first: [],
  malformed: [],
  refused: [],
} as const satisfies ReasonTable;

export type SendReason = keyof typeof SEND_REASONS;

export type SendParams = ParamsIn<typeof SEND_REASONS, SendReason>;

/** Why a send or an action failed, as its row and its event store it. */
export interface SendError {
  code: string;
  reason: SendReason;
  params: SendParams;
  message: string;
  retryable: boolean;
  /** ISO 8601. A repetition before this time would fail in the same way. */
  until?: string;
}
