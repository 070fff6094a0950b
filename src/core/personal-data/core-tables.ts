import { sql } from "kysely";
import type { Tables } from "../../tables.ts";
import {
  CONTENT_TREATMENT,
  ERROR_TREATMENT,
  EVENT_BODY_TREATMENT,
  emptied,
  eraseValue,
  numberedName,
  pseudonymousAddress,
  pseudonymousAddressIfAny,
  replaceWith,
  reworded,
  SENDER_TREATMENT,
  type TablePersonalData,
} from "./treatment.ts";

/**
 * Every column of the gateway's own tables: what personal data it holds, and how an anonymisation treats it.
 * A missing column fails a test. Exports contain all columns that are not secret.
 */
export const PERSONAL_DATA = {
  node: { plain: "id boot heartbeat dead url roles memory memory_at_start started_at" },
  lane: { plain: "id kind key owner epoch" },
  job: {
    plain: "id lane prio pos run_at attempts max_attempts",
    deleted: { columns: "grp ref", parts: ["messages"] },
  },
  plan: {
    plain:
      "id name price max_instances max_users max_messages max_campaigns max_leads max_storage_mb max_accounts api_rate_limit_per_minute instance_rate_limit_per_minute message_rate_limit_per_minute features",
  },
  account: {
    plain:
      "id account_type status plan_id settings parent_id trial_ends_at suspended_by_owner created_at updated_at removed_at",
    personal: { name: numberedName("account") },
  },
  account_user: {
    plain: "id account_id role awaits_owner unseen_by must_change_password instance_ids created_at",
    secret: "password_hash",
    retained: { columns: "email", because: "it is what they sign in with" },
    personal: { name: numberedName("account") },
  },
  sign_in: { plain: "user_id created_at confirmed_at expires_at", secret: "id" },
  welcome_link: { plain: "user_id expires_at", secret: "digest" },
  use_counter: { plain: "kind uses started_at last_at", secret: "key" },
  instance: {
    plain:
      "id account_id parent_instance_id lane global_lane network status wanted platform webhook_enabled settings last_disconnect_reason attention new_chats_locked_until sends_paused_until send_pauses reconnect_attempts qr_attempt qr_max_attempts qr_expires_at qr_reason pairing_error last_qr_at connected_at disconnected_at last_seen_at created_at updated_at removed_at",
    secret: "webhook_secret proxy qr pairing_code passkey",
    retained: { columns: "phone jid lid", because: "they are the address of its pairing" },
    personal: {
      name: numberedName("account"),
      profile_name: eraseValue("account"),
      profile_picture_url: eraseValue("account"),
      metadata: emptied("account"),
      pairing_phone: eraseValue("account"),
    },
  },
  api_key: {
    plain: "id account_id instance_id scope is_renewed_by_key created_at last_used_at expires_at",
    secret: "digest last4",
  },
  instance_link: { plain: "account_id instance_id created_at expires_at", secret: "digest browser" },
  credential: { plain: "instance_id generation updated_at", secret: "secret registration" },
  pairing_key: { plain: "instance_id generation kind", secret: "id secret" },
  journal_entry: { plain: "instance_id generation position is_done created_at", secret: "id secret" },
  connection_log: { plain: "id instance_id account_id status reason created_at" },
  contact: {
    plain: "id account_id instance_id is_business is_blocked created_at updated_at",
    personal: {
      jid: pseudonymousAddress("conversations"),
      lid: pseudonymousAddress("conversations"),
      phone: pseudonymousAddress("conversations"),
      name: eraseValue("conversations"),
      push_name: eraseValue("conversations"),
      verified_name: eraseValue("conversations"),
      about: eraseValue("conversations"),
      picture_url: eraseValue("conversations"),
    },
  },
  number_check: {
    plain: "instance_id account_id checked_at",
    deleted: { columns: "number jid lid verified_name", parts: ["conversations"] },
  },
  conversation: {
    plain:
      "id account_id instance_id type contact_id merged_into merged_at last_message_at archived pinned muted_until marked_unread created_at",
    personal: {
      jid: pseudonymousAddress("conversations"),
      phone: pseudonymousAddress("conversations"),
      title: eraseValue("conversations"),
    },
  },
  message: {
    plain:
      "id account_id instance_id conversation_id message_id direction from_me origin mode type status job_id delay_ms deadline submitted_at outcome_at edited_at deleted_at read_at sent_at created_at",
    personal: {
      jid: pseudonymousAddress("conversations"),
      sender: SENDER_TREATMENT,
      content: CONTENT_TREATMENT,
      secret: eraseValue("messages"),
      raw: eraseValue("messages"),
      error: ERROR_TREATMENT,
      client_message_id: eraseValue("messages"),
      track_id: eraseValue("messages"),
      metadata: eraseValue("messages"),
    },
  },
  message_receipt: {
    plain: "message account_id instance_id is_addressee delivered_at read_at played_at",
    deleted: { columns: "person jid lid phone", parts: ["messages", "conversations"] },
  },
  message_search: {
    plain: "account_id instance_id at id",
    deleted: { columns: "words", parts: ["messages"] },
  },
  outgoing_media: {
    plain: "id account_id part created_at",
    deleted: { columns: "bytes", parts: ["messages"] },
  },
  media: {
    plain: "id account_id instance_id message size blob created_at ready_at",
    personal: {
      status: replaceWith(sql`'expired'`, "messages"),
      reason: reworded("messages"),
      upload: eraseValue("messages"),
      sha256: eraseValue("messages"),
      mime_type: replaceWith(sql`split_part(mime_type, ';', 1)`, "messages"),
      file_name: eraseValue("messages"),
    },
  },
  blob: {
    plain: "id size node status created_at",
    deleted: { columns: "name sha256", parts: ["messages"] },
  },
  stored_file: { plain: "account_id blob size reference_count" },
  storage_usage: { plain: "account_id bytes" },
  action: {
    plain: "id account_id instance_id message_id action deadline outcome_at created_at",
    deleted: { columns: "jid target body error", parts: ["messages"] },
  },
  idempotency: {
    plain: "account_id instance_id route message created_at",
    deleted: { columns: "key fingerprint", parts: ["messages"] },
  },
  account_idempotency: {
    plain: "account_id route created_at",
    secret: "response",
    deleted: { columns: "key fingerprint", parts: ["account"] },
  },
  message_usage: { plain: "account_id month used" },
  monthly_message_count: { plain: "account_id month sent" },
  message_count_cursor: { plain: "id message" },
  uncounted_message: { plain: "message account_id month" },
  api_log: {
    plain:
      "id account_id instance_id caller user_id key_last4 method route status code duration_ms request_id created_at",
    personal: { ip: eraseValue("account") },
  },
  event_counter: { plain: "instance_id last" },
  event: {
    plain: "id event_id event account_id instance_id sequence tags created_at",
    personal: { chat: pseudonymousAddressIfAny("conversations"), body: EVENT_BODY_TREATMENT },
  },
  webhook: {
    plain:
      "id account_id instance_id lane is_default is_active events event_names exclude ordering retry_enabled max_attempts disabled_at failing_since failed_events warned_at last_delivery_at last_status last_error_class created_at updated_at previous_until removed_at disabled_reason format",
    secret: "secret previous_secret headers url address format_token",
    personal: { name: numberedName("account") },
  },
  delivery: {
    plain:
      "id event_id webhook_id account_id instance_id status attempts next_retry_at delivered_at response_status created_at",
    personal: { error: eraseValue("messages") },
  },
  attempt: {
    plain:
      "id event_id event_at event delivery_id webhook_id account_id instance_id attempt trigger success status_code error_class duration_ms created_at",
    retained: {
      columns: "url request_headers",
      because: "they are the receiver's address, without what is secret in it, and what was sent to it",
    },
    personal: {
      webhook_name: reworded("account"),
      error: eraseValue("messages"),
      response_body: eraseValue("messages"),
    },
  },
  secret_check: { plain: "id", secret: "sealed" },
  audit: {
    plain:
      "id account_id actor actor_id credential_id action target_type target_id fields request_id created_at",
    personal: { ip: eraseValue("account") },
  },
  audit_pending: { plain: "audit_id" },
  audit_seal: { plain: "position audit_id hash" },
  sealed_key: { plain: "name", secret: "sealed" },
  group_chat: {
    plain: "id account_id instance_id announce locked group_created_at read_at is_stale updated_at",
    deleted: { columns: "jid subject description owner participants", parts: ["conversations"] },
  },
  group_list: {
    plain: "instance_id account_id read_at is_stale",
    deleted: { columns: "me", parts: ["conversations"] },
  },
  lead: {
    plain: "id account_id status kanban_status opted_out_at created_at updated_at",
    personal: {
      phone: pseudonymousAddress("leads"),
      lid: pseudonymousAddress("leads"),
      name: numberedName("leads"),
      email: eraseValue("leads"),
      tags: replaceWith(sql`'{}'::text[]`, "leads"),
      custom_fields: emptied("leads"),
    },
  },
  lead_note: {
    plain: "id account_id lead_id user_id created_at",
    personal: { note: reworded("leads") },
  },
  custom_field: {
    plain: "id account_id type created_at",
    personal: { name: numberedName("account"), options: replaceWith(sql`'{}'::text[]`, "account") },
  },
  quick_reply: {
    plain: "id account_id created_at updated_at",
    personal: {
      shortcut: numberedName("account"),
      title: eraseValue("account"),
      content: reworded("account"),
      media_url: eraseValue("account"),
    },
  },
  consent: {
    plain:
      "id account_id user_id lead_id subject purpose consent_type granted text_version text_hash channel created_at",
    personal: { phone: pseudonymousAddress("leads"), ip: eraseValue("leads", "account") },
  },
  suppression: {
    plain: "account_id reason created_at",
    retained: { columns: "digest", because: "people who have opted out must never be written to again" },
  },
  campaign: {
    plain:
      "id account_id instance_id lane status status_reason min_delay_ms max_delay_ms scheduled_at quiet_hours daily_limit consent_purpose stop_on_error_rate next_at waiting totals started_at resumed_at ended_at archived_at created_at updated_at",
    personal: {
      name: numberedName("messages"),
      message_template: reworded("messages"),
      media: eraseValue("messages"),
    },
  },
  campaign_recipient: {
    plain: "id account_id campaign_id status reason message planned_at decided_at created_at",
    personal: {
      phone: pseudonymousAddress("leads", "conversations"),
      person: eraseValue("leads", "conversations"),
      variables: emptied("leads", "messages"),
    },
  },
  integration: {
    plain:
      "id account_id instance_id provider enabled lane inbound_lane event_names exclude status last_error_code last_error_at last_success_at paused_until refused_since created_at updated_at",
    secret: "secret state",
    personal: {
      config: replaceWith(
        sql`config || case when config ? 'ignore_jids' then '{"ignore_jids": []}'::jsonb else '{}' end`,
        "conversations",
      ),
      last_error: eraseValue("messages"),
    },
  },
  integration_link: {
    plain:
      "id account_id integration_id message_id part provider_conversation_id provider_message_id origin status attempts created_at updated_at",
    personal: { chat: pseudonymousAddressIfAny("conversations"), error: eraseValue("messages") },
  },
  integration_chat: {
    plain: "account_id integration_id replies replies_since pauses replies_paused_until updated_at",
    deleted: { columns: "chat provider_conversation_id state", parts: ["messages"] },
  },
  integration_inbound: {
    plain: "id account_id integration_id created_at",
    deleted: { columns: "delivery body", parts: ["messages"] },
  },
  backup: {
    plain:
      "id status reason trigger file node size checksum key_id rows app_version schema_version created_at started_at finished_at verified_at",
  },
  restore_record: { plain: "id backup backup_at restored_at action decided_at" },
  held_job: {
    plain: "id lane kind prio pos run_at attempts max_attempts",
    deleted: { columns: "grp ref", parts: ["messages"] },
  },
  erasure_log: { plain: "id account_id scope subject created_at is_due" },
  data_request: {
    plain:
      "id account_id request_type scope status requested_by until progress affected due_at created_at processed_at",
    retained: { columns: "person", because: "the request needs it until its end, which deletes it" },
    personal: { ip: eraseValue("account") },
  },
  client_version: {
    plain:
      "id revision found_at changed_at searched_at requested_at problem expires_at expires_revision listed_revision warned_days warned_instance_id",
  },
  oauth_client: { plain: "id name redirect_uris network created_at last_used_at" },
  oauth_grant: {
    plain:
      "id account_id user_id client_id client_name redirect_host scopes instance_ids created_at expires_at activated_at last_used_at",
  },
  oauth_code: { plain: "grant_id redirect_uri expires_at used_at", secret: "digest challenge" },
  oauth_token: { plain: "grant_id kind scopes expires_at used_at", secret: "digest" },
  pseudonym: { plain: "request", deleted: { columns: "subject name", parts: ["messages"] } },
} as const satisfies Record<Exclude<keyof Tables, "consent_state">, TablePersonalData>;

export type DeclaredTable = keyof typeof PERSONAL_DATA;

/** The declaration of a table. */
export function dataOf(table: DeclaredTable): TablePersonalData {
  return PERSONAL_DATA[table];
}
