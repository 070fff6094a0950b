import { REQUEST_REASONS } from "../../platform/delivery-reasons.ts";
import type { ParamsIn, ReasonTable } from "../../platform/issue-codes.ts";

/** What the last problem of an integration is about. */
export const INTEGRATION_REASONS = {
  ...REQUEST_REASONS,
  n8n_not_found: [],
  n8n_test_address: [],
  n8n_inactive: [],
  n8n_token: [],
  n8n_failed: [],
  n8n_lost: [],
  typebot_not_viewer: [],
  typebot_builder: [],
  typebot_closed: [],
  typebot_token: [],
  typebot_suspended: [],
  typebot_session_gone: [],
  typebot_block: [],
  typebot_unpublished: [],
  chatwoot_token: [],
  chatwoot_role: [],
  chatwoot_suspended: [],
  chatwoot_too_large: [],
  chatwoot_identity: [],
  chatwoot_inbox_gone: [],
  chatwoot_unreadable: [],
} as const satisfies ReasonTable;

export type IntegrationReason = keyof typeof INTEGRATION_REASONS;

/** What is known of a failure; `code` null: only its sentence says what it is about. */
export interface IntegrationFailure {
  code: IntegrationReason | null;
  params: ParamsIn<typeof INTEGRATION_REASONS, IntegrationReason>;
}
