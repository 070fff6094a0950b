import { sql } from "kysely";
import { hasAddressIn } from "./erased-person.ts";
import type { TableDeclarations } from "./table-declaration.ts";
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
} from "./treatment.ts";

/** The tables of core by the part that owns them. Extensions declare their own in their manifests. */
export const CORE_TABLES = {
  accounts: {
    account: {
      plain:
        "id account_type status plan_id settings parent_id trial_ends_at suspended_by_owner created_at updated_at removed_at",
      personal: { name: numberedName("account") },
      foundBy: "id",
    },
    account_user: {
      plain: "id account_id role awaits_owner unseen_by must_change_password instance_ids created_at",
      secret: "password_hash",
      retained: { columns: "email", because: "it is what they sign in with" },
      personal: { name: numberedName("account") },
      foundBy: "account_id",
      exportedAs: "users",
    },
    sign_in: { plain: "user_id created_at confirmed_at expires_at", secret: "id" },
    welcome_link: { plain: "user_id expires_at", secret: "digest" },
    erasure_log: { plain: "id account_id scope subject created_at is_due" },
  },
  audit: {
    audit: {
      plain:
        "id account_id actor actor_id credential_id action target_type target_id fields request_id created_at",
      personal: { ip: eraseValue("account") },
      foundBy: "account_id",
    },
    audit_pending: { plain: "audit_id" },
    audit_seal: { plain: "position audit_id hash" },
  },
  "client-version": {
    client_version: {
      plain:
        "id revision found_at changed_at searched_at requested_at problem expires_at expires_revision listed_revision warned_days warned_instance_id",
    },
  },
  contacts: {
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
      foundBy: "instance_id",
      ofPerson: hasAddressIn("jid", "lid", "phone"),
      knownBy: "jid lid phone",
      exportedAs: "contacts",
    },
    conversation: {
      plain:
        "id account_id instance_id type contact_id merged_into merged_at last_message_at archived pinned muted_until marked_unread created_at",
      personal: {
        jid: pseudonymousAddress("conversations"),
        phone: pseudonymousAddress("conversations"),
        title: eraseValue("conversations"),
      },
      foundBy: "instance_id",
      ofPerson: (person) => sql`type = 'contact' and ${hasAddressIn("jid", "phone")(person)}`,
      knownBy: "jid phone",
      exportedAs: "conversations",
    },
    number_check: {
      plain: "instance_id account_id checked_at",
      deleted: { columns: "number jid lid verified_name", parts: ["conversations"] },
      foundBy: "instance_id",
      ofPerson: hasAddressIn("number", "jid", "lid"),
    },
  },
  engine: {
    node: { plain: "id boot heartbeat dead url roles memory memory_at_start started_at" },
    lane: { plain: "id kind key owner epoch" },
    job: {
      plain: "id lane prio pos run_at attempts max_attempts",
      deleted: { columns: "grp ref", parts: ["messages"] },
    },
  },
  events: {
    event: {
      plain: "id event_id event account_id instance_id sequence tags created_at",
      personal: { chat: pseudonymousAddressIfAny("conversations"), body: EVENT_BODY_TREATMENT },
    },
    event_counter: { plain: "instance_id last" },
  },
  groups: {
    group_chat: {
      plain:
        "id account_id instance_id announce locked join_approval members_can_add group_created_at read_at is_stale updated_at",
      deleted: { columns: "jid subject description owner participants", parts: ["conversations"] },
      foundBy: "instance_id",
      exportedAs: "groups",
    },
    group_list: {
      plain: "instance_id account_id read_at is_stale",
      deleted: { columns: "me", parts: ["conversations"] },
      foundBy: "instance_id",
    },
  },
  "instance-logs": {
    api_log: {
      plain:
        "id account_id instance_id caller user_id key_last4 method route status code duration_ms request_id created_at",
      personal: { ip: eraseValue("account") },
      foundBy: "account_id",
    },
  },
  instances: {
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
      foundBy: "account_id",
      exportedAs: "instances",
      internal: "lane global_lane",
    },
    api_key: {
      plain: "id account_id instance_id scope is_renewed_by_key created_at last_used_at expires_at",
      secret: "digest last4",
    },
    connection_log: { plain: "id instance_id account_id status reason created_at" },
  },
  media: {
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
      internal: "blob upload",
    },
    blob: {
      plain: "id size node status created_at",
      deleted: { columns: "name sha256", parts: ["messages"] },
    },
    stored_file: { plain: "account_id blob size reference_count" },
    storage_usage: { plain: "account_id bytes" },
  },
  messages: {
    message: {
      plain:
        "id account_id instance_id conversation_id message_id direction from_me origin mode type status job_id delay_ms deadline submitted_at outcome_at edited_at deleted_at delivered_at read_at played_at sent_at send_at queue_pos created_at",
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
      exportedAs: "messages",
      internal: "secret content.ref content.upload content.shared",
    },
    message_receipt: {
      plain: "message account_id instance_id is_addressee delivered_at read_at played_at",
      deleted: { columns: "person jid lid phone", parts: ["messages", "conversations"] },
    },
    poll_vote: {
      plain: "message account_id instance_id",
      deleted: { columns: "person jid lid phone name options at", parts: ["messages", "conversations"] },
      foundBy: "instance_id",
      ofPerson: hasAddressIn("person", "jid", "lid", "phone"),
    },
    message_search: {
      plain: "account_id instance_id at id",
      deleted: { columns: "words", parts: ["messages"] },
    },
    outgoing_media: {
      plain: "id account_id part created_at",
      deleted: { columns: "bytes", parts: ["messages"] },
    },
    action: {
      plain: "id account_id instance_id message_id action deadline outcome_at created_at",
      deleted: { columns: "jid target body error", parts: ["messages"] },
    },
    idempotency: {
      plain: "account_id instance_id route message created_at",
      deleted: { columns: "key fingerprint", parts: ["messages"] },
      foundBy: "instance_id",
    },
    message_usage: { plain: "account_id month used" },
  },
  plans: {
    plan: {
      plain:
        "id name price max_instances max_users max_messages max_campaigns max_leads max_storage_mb max_accounts api_rate_limit_per_minute instance_rate_limit_per_minute message_rate_limit_per_minute features",
    },
    monthly_message_count: { plain: "account_id month sent" },
    message_count_cursor: { plain: "id message" },
    uncounted_message: { plain: "message account_id month" },
  },
  platform: {
    account_idempotency: {
      plain: "account_id route created_at",
      secret: "response",
      deleted: { columns: "key fingerprint", parts: ["account"] },
      foundBy: "account_id",
    },
    use_counter: { plain: "kind uses started_at last_at", secret: "key" },
    secret_check: { plain: "id", secret: "sealed" },
    sealed_key: { plain: "name", secret: "sealed" },
  },
  sessions: {
    credential: { plain: "instance_id generation updated_at", secret: "secret registration" },
    pairing_key: { plain: "instance_id generation kind", secret: "id secret" },
    journal_entry: { plain: "instance_id generation position is_done created_at", secret: "id secret" },
  },
  webhooks: {
    webhook: {
      plain:
        "id account_id instance_id lane is_default is_active events event_names exclude ordering retry_enabled max_attempts disabled_at failing_since failed_events warned_at last_delivery_at last_status last_error_class created_at updated_at previous_until removed_at disabled_reason disabled_error format",
      secret: "secret previous_secret headers url address format_token",
      personal: { name: numberedName("account") },
      foundBy: "account_id",
      exportedAs: "webhooks",
      internal: "lane",
    },
    delivery: {
      plain:
        "id event_id webhook_id account_id instance_id status attempts next_retry_at delivered_at response_status error_class created_at",
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
      foundBy: "instance_id",
    },
  },
} as const satisfies Readonly<Record<string, TableDeclarations>>;
