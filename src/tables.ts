import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from "kysely";

type Json<T extends object> = JSONColumnType<T, string, string>;

export interface NodeTable {
  id: string;
  boot: number;
  heartbeat: Generated<number>;
  dead: Generated<boolean>;
  url: string | null;
  roles: string[];
  /** Bytes of resident memory: the latest value, and (next column) the value before the first session. */
  memory: number | null;
  memory_at_start: number | null;
  started_at: Generated<Date>;
}

export interface LaneTable {
  id: Generated<number>;
  kind: string;
  key: string;
  owner: string | null;
  epoch: Generated<number>;
}

export interface JobTable {
  id: Generated<number>;
  lane: number;
  prio: number;
  pos: number;
  grp: string;
  run_at: Generated<Date>;
  attempts: Generated<number>;
  max_attempts: number | null;
  ref: Json<Record<string, unknown>>;
}

export interface PlanTable {
  id: Generated<number>;
  name: string;
  price: Generated<number>;
  max_instances: number | null;
  max_users: number | null;
  max_messages: number | null;
  max_campaigns: number | null;
  max_leads: number | null;
  /** Quota for stored files, in MiB (1,048,576 bytes). */
  max_storage_mb: number | null;
  /** Quota for customers of a reseller. */
  max_accounts: Generated<number | null>;
  api_rate_limit_per_minute: number | null;
  instance_rate_limit_per_minute: number | null;
  message_rate_limit_per_minute: number | null;
  features: Json<Record<string, unknown>>;
}

export interface AccountTable {
  id: Generated<number>;
  name: string;
  account_type: "owner" | "reseller" | "client";
  status: Generated<"active" | "trial" | "paused" | "blocked" | "expired" | "cancelled">;
  plan_id: number;
  settings: Json<Record<string, unknown>>;
  /** The reseller of this customer. */
  parent_id: number | null;
  trial_ends_at: Date | null;
  /** The owner of the gateway suspended the account; a reseller cannot reactivate it. */
  suspended_by_owner: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  /** Hides the account at once; a job deletes the row after all its data. */
  removed_at: Date | null;
}

export interface AccountUserTable {
  id: Generated<number>;
  account_id: number;
  name: string;
  email: string;
  role: "super_admin" | "admin" | "agent";
  password_hash: string;
  /** The password is the generated one, and nobody has signed in. */
  awaits_owner: Generated<boolean>;
  /** The node that has generated the password and has not printed it yet. */
  unseen_by: string | null;
  /** Somebody else has chosen the password, or the gateway has generated it. */
  must_change_password: Generated<boolean>;
  /** The only instances that an agent reaches; null: all of the account. */
  instance_ids: number[] | null;
  created_at: Generated<Date>;
}

export interface WelcomeLinkTable {
  digest: Buffer;
  user_id: number;
  expires_at: Date;
}

export interface SignInTable {
  id: string;
  user_id: number;
  /** When the user last gave the password. */
  confirmed_at: Generated<Date>;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface UseCounterTable {
  kind: string;
  key: Buffer;
  uses: number;
  started_at: Generated<Date>;
  last_at: Generated<Date>;
}

export type InstanceStatus =
  | "created"
  | "connecting"
  | "qr_pending"
  | "qr_expired"
  | "passkey_required"
  | "connected"
  | "reconnecting"
  | "disconnected"
  | "logged_out"
  | "banned"
  | "error";

export interface PasskeyRow {
  stage: "required" | "awaiting_phone" | "confirmation_required" | "finishing";
  /** WebAuthn options that the browser signs. */
  options: Record<string, unknown> | null;
  code: string | null;
  /** ISO 8601. */
  expires_at: string;
}

export interface InstanceTable {
  id: Generated<number>;
  account_id: number;
  parent_instance_id: number | null;
  lane: number;
  global_lane: number;
  name: string;
  network: "whatsapp" | "sandbox";
  status: Generated<InstanceStatus>;
  wanted: Generated<"stopped" | "connected">;
  phone: string | null;
  jid: string | null;
  lid: string | null;
  profile_name: string | null;
  profile_picture_url: string | null;
  platform: string | null;
  webhook_enabled: Generated<boolean>;
  webhook_secret: Buffer;
  metadata: Json<Record<string, unknown>>;
  settings: Json<Record<string, unknown>>;
  proxy: Buffer | null;
  qr: string | null;
  qr_attempt: number | null;
  qr_max_attempts: number | null;
  qr_expires_at: Date | null;
  qr_reason: "new" | "refreshed" | null;
  /** Error of the last pairing, as plain data from the network. */
  pairing_error: Json<Record<string, unknown>> | null;
  pairing_phone: string | null;
  pairing_code: string | null;
  /** Step of the passkey ceremony in a pairing; null while the network requests none. */
  passkey: Json<PasskeyRow> | null;
  /** A demand of the network that a person must handle. */
  attention: Json<{ code: "passkey_challenge" | "queue_withheld"; since: string }> | null;
  last_qr_at: Date | null;
  connected_at: Date | null;
  disconnected_at: Date | null;
  last_seen_at: Date | null;
  last_disconnect_reason: string | null;
  /** Until then, the network refuses messages to contacts without an existing chat. */
  new_chats_locked_until: Date | null;
  /** Consecutive locks; each doubles the wait if the network reports no end. */
  /** Until then, sends are paused, because sends to several chats did not reach the network. */
  sends_paused_until: Date | null;
  /** Consecutive pauses; 0: sends reach the network. */
  send_pauses: Generated<number>;
  /** Failed attempts to connect since the last connection or the last connect request. */
  reconnect_attempts: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  removed_at: Date | null;
}

/** A link with which a person without an account pairs a phone; one per instance. */
export interface InstanceLinkTable {
  /** SHA-256 of the token. */
  digest: Buffer;
  account_id: number;
  instance_id: number;
  /** SHA-256 of a secret in the first browser that opened the link. */
  browser: Buffer | null;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface ApiKeyTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  digest: Buffer;
  last4: string;
  scope: Generated<"instance" | "account">;
  is_renewed_by_key: Generated<boolean>;
  created_at: Generated<Date>;
  last_used_at: Date | null;
  expires_at: Date | null;
}

export interface CredentialTable {
  instance_id: number;
  generation: number;
  secret: Buffer | null;
  /** State of a pairing in progress, so that it continues after a restart. */
  registration: Buffer | null;
  updated_at: Generated<Date>;
}

export interface PairingKeyTable {
  instance_id: number;
  generation: number;
  kind: string;
  id: string;
  secret: Buffer;
}

export interface JournalEntryTable {
  instance_id: number;
  generation: number;
  id: string;
  /** In the order of arrival. */
  position: Generated<number>;
  is_done: boolean;
  secret: Buffer;
  created_at: Generated<Date>;
}

export interface ConnectionLogTable {
  id: Generated<number>;
  instance_id: number;
  account_id: number;
  status: InstanceStatus;
  reason: string | null;
  created_at: Generated<Date>;
}

export interface ContactTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  /** The name in the phone's address book. */
  name: string | null;
  push_name: string | null;
  verified_name: string | null;
  /** Null: not requested from the network yet. */
  is_business: boolean | null;
  about: string | null;
  picture_url: string | null;
  is_blocked: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** The network's result for one phone number. */
export interface NumberCheckTable {
  instance_id: number;
  account_id: number;
  number: string;
  /** Null: the number is not on the network. */
  jid: string | null;
  lid: string | null;
  verified_name: string | null;
  checked_at: Generated<Date>;
}

export interface ConversationTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  jid: string;
  phone: string | null;
  title: string | null;
  type: "contact" | "group";
  contact_id: number | null;
  /** The conversation into which this one was merged. */
  merged_into: number | null;
  /** Set while messages may still arrive in a merged conversation. */
  merged_at: Date | null;
  last_message_at: Date | null;
  archived: Generated<boolean>;
  pinned: Generated<boolean>;
  muted_until: Date | null;
  /** Set by the user, independent of which messages are read. */
  marked_unread: Generated<boolean>;
  created_at: Generated<Date>;
}

/** Search words of a message, each prefixed with the instance id. */
export interface MessageSearchTable {
  account_id: number;
  instance_id: number;
  /** Acceptance time of a send; otherwise the time of the message. */
  at: Date;
  /** The id of the message. */
  id: number;
  words: string;
}

type ReasonParams = Record<string, string | number>;

export interface StoredSendError {
  code: string;
  reason: string;
  params: ReasonParams;
  message: string;
  retryable: boolean;
}

export interface MessageTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  conversation_id: number;
  message_id: string;
  direction: "inbound" | "outbound";
  from_me: boolean;
  origin: "api" | "panel" | "campaign" | "inbox" | "chatbot" | "phone" | "contact";
  mode: "sync" | "async" | null;
  jid: string;
  sender: Json<Record<string, unknown>> | null;
  type: string;
  content: Json<Record<string, unknown>>;
  /** Sealed; see `sealForMessage`. */
  secret: Buffer | null;
  /** Sealed; see `sealForMessage`. */
  raw: Buffer | null;
  status:
    | "scheduled"
    | "pending"
    | "sent"
    | "delivered"
    | "read"
    | "played"
    | "failed"
    | "cancelled"
    | "received";
  error: Json<StoredSendError> | null;
  job_id: string | null;
  client_message_id: string | null;
  track_id: string | null;
  metadata: Json<Record<string, unknown>> | null;
  delay_ms: number | null;
  /** When a scheduled send is due. */
  send_at: Date | null;
  /** The position of a scheduled send's job in its lane, since it was due; null: the message's id. */
  queue_pos: number | null;
  deadline: Date | null;
  submitted_at: Date | null;
  outcome_at: Date | null;
  edited_at: Date | null;
  deleted_at: Date | null;
  /** Inbound messages: when this instance read them. */
  delivered_at: Date | null;
  read_at: Date | null;
  played_at: Date | null;
  sent_at: Generated<Date>;
  created_at: Generated<Date>;
}

export interface OutgoingMediaTable {
  id: string;
  account_id: number;
  part: number;
  bytes: Buffer;
  created_at: Generated<Date>;
}

/** The file of a message. */
export interface MediaTable {
  id: Generated<string>;
  account_id: number;
  instance_id: number;
  message: number;
  status: "pending" | "ready" | "failed" | "expired";
  /** Why the file is not available. */
  reason: string | null;
  blob: number | null;
  /** File of a send: its parts in `outgoing_media`, until the media store has the file. */
  upload: string | null;
  sha256: string | null;
  size: number | null;
  mime_type: string;
  file_name: string | null;
  created_at: Generated<Date>;
  ready_at: Date | null;
}

/** A file in the media store. */
export interface BlobTable {
  id: Generated<number>;
  /** The name in the media store. */
  name: string;
  sha256: string;
  size: number;
  /** The node whose folder has the file; null: every node can read it. */
  node: string | null;
  status: Generated<"uploading" | "stored" | "deleting">;
  created_at: Generated<Date>;
}

/** A file that an account has in the store; triggers maintain the row. */
export interface StoredFileTable {
  account_id: number;
  blob: number;
  size: number;
  /** Number of the account's media rows that reference the blob. */
  reference_count: number;
}

/** Total size of an account's files; triggers maintain the row. */
export interface StorageUsageTable {
  account_id: number;
  bytes: number;
}

export interface ActionTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  jid: string;
  /** The network's id of the action itself. */
  message_id: string;
  /** The messages that the action changes. */
  target: Json<{ id: string; from_me: boolean; sender?: string }[]>;
  action: "react" | "read" | "edit" | "delete" | "delete_for_me" | "pin" | "star";
  body: Json<{
    text?: string;
    media_type?: string;
    mentions?: string[];
    reaction?: string;
    seconds?: number;
    starred?: boolean;
    sent_at?: string;
  }>;
  error: Json<StoredSendError> | null;
  deadline: Date;
  outcome_at: Date | null;
  created_at: Generated<Date>;
}

export interface IdempotencyTable {
  account_id: number;
  instance_id: number;
  route: string;
  key: string;
  fingerprint: Buffer;
  message: number;
  created_at: Generated<Date>;
}

export interface AccountIdempotencyTable {
  account_id: number;
  route: string;
  key: string;
  fingerprint: Buffer;
  /** The sealed response; null only within the transaction of the request. */
  response: Buffer | null;
  created_at: Generated<Date>;
}

export interface MessageUsageTable {
  account_id: number;
  /** First day of the month, UTC. */
  month: string;
  used: Generated<number>;
}

export interface ApiLogTable {
  id: Generated<number>;
  account_id: number | null;
  instance_id: number | null;
  caller: "user" | "key" | "admin";
  user_id: number | null;
  key_last4: string | null;
  method: string;
  /** The route's pattern, never the path with its ids. */
  route: string;
  status: number;
  code: string | null;
  duration_ms: number;
  /** Without the last part of the address. */
  ip: string | null;
  request_id: string;
  created_at: Date;
}

export interface EventCounterTable {
  instance_id: number;
  last: Generated<number>;
}

export interface EventTable {
  id: Generated<number>;
  event_id: string;
  event: string;
  account_id: number;
  instance_id: number;
  sequence: number;
  chat: string;
  tags: string[];
  body: Buffer;
  created_at: Date;
}

export interface WebhookTable {
  id: Generated<number>;
  account_id: number | null;
  instance_id: number | null;
  lane: number | null;
  name: string;
  /** The masked copy of `address`. */
  url: string;
  /** The whole URL, sealed; null if there is none. */
  address: Buffer | null;
  is_default: Generated<boolean>;
  is_active: Generated<boolean>;
  /** The names that the customer chose; empty means the default set. */
  events: string[];
  /** `events`, expanded to single event names. */
  event_names: string[];
  exclude: Generated<string[]>;
  ordering: Generated<"chat" | "strict" | "none">;
  retry_enabled: Generated<boolean>;
  max_attempts: Generated<number>;
  secret: Buffer;
  /** Signs in addition to the new secret until `previous_until`. */
  previous_secret: Buffer | null;
  previous_until: Date | null;
  headers: Buffer | null;
  format: Generated<"native" | "cloudevents" | "evolution" | "uazapi" | "waha">;
  /** Sealed. */
  format_token: Buffer | null;
  disabled_reason: string | null;
  disabled_error: Json<{ reason: string; params: ReasonParams }> | null;
  disabled_at: Date | null;
  /** Time of the first failed delivery since the last success. */
  failing_since: Date | null;
  /** Events abandoned since the last success. */
  failed_events: Generated<number>;
  warned_at: Date | null;
  last_delivery_at: Date | null;
  last_status: number | null;
  /** Why the last attempt failed; null after a success. */
  last_error_class: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  /** Hides the webhook at once; the row is deleted when no delivery of it is queued. */
  removed_at: Date | null;
}

export type DeliveryStatus = "pending" | "retrying" | "delivered" | "failed" | "parked" | "discarded";

export interface DeliveryTable {
  id: Generated<number>;
  event_id: string;
  webhook_id: number;
  account_id: number;
  instance_id: number;
  status: Generated<DeliveryStatus>;
  attempts: Generated<number>;
  next_retry_at: Date | null;
  delivered_at: Date | null;
  response_status: number | null;
  error: string | null;
  /** As of an attempt, or why it was discarded. */
  error_class: string | null;
  created_at: Date;
}

export interface AttemptTable {
  id: Generated<number>;
  event_id: string;
  event_at: Date;
  event: string;
  delivery_id: number | null;
  webhook_id: number;
  webhook_name: string;
  account_id: number;
  instance_id: number;
  url: string;
  attempt: number;
  trigger: "auto" | "manual" | "test";
  success: boolean;
  status_code: number | null;
  error: string | null;
  error_class: string | null;
  duration_ms: number;
  response_body: string | null;
  /** As sent to the gateway's own receiver; null for any other receiver. */
  request_headers: ColumnType<Record<string, string> | null, string | null, never>;
  created_at: Generated<Date>;
}

export interface SecretCheckTable {
  id: Generated<number>;
  sealed: Buffer;
}

export interface AuditTable {
  id: Generated<number>;
  account_id: number | null;
  actor: "user" | "key" | "admin" | "system" | "public";
  /** Id of the user, or of the key's instance. */
  actor_id: number | null;
  credential_id: string | null;
  action: string;
  target_type: string;
  target_id: string | null;
  /** Names of the changed fields, never their values. */
  fields: string[];
  ip: string | null;
  request_id: string | null;
  created_at: Generated<Date>;
}

export interface AuditPendingTable {
  audit_id: number;
}

export interface AuditSealTable {
  position: number;
  audit_id: number;
  hash: Buffer;
}

export interface MonthlyMessageCountTable {
  account_id: number;
  /** First day of the month, UTC. */
  month: string;
  sent: number;
}

export interface MessageCountCursorTable {
  id: Generated<boolean>;
  /** The last message in the counts. */
  message: number;
}

export interface UncountedMessageTable {
  message: number;
  account_id: number;
  month: string;
}

/** Keys that do not change with the secret key. */
export interface SealedKeyTable {
  name: string;
  sealed: Buffer;
}

/** The receipts of one group member for one sent message. */
export interface MessageReceiptTable {
  message: number;
  /** The address under which the member first appeared here. */
  person: string;
  account_id: number;
  instance_id: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  /** The member was in the group when the message was sent. */
  is_addressee: boolean;
  delivered_at: Date | null;
  read_at: Date | null;
  played_at: Date | null;
}

/** The latest vote of a person on a poll. */
export interface PollVoteTable {
  message: number;
  /** The address by which the gateway knows the voter. */
  person: string;
  account_id: number;
  instance_id: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  name: string | null;
  /** Ids of the chosen options; empty: the vote is withdrawn. */
  options: string[];
  at: Date;
}

export interface LabelTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  /** The paired phone, by JID; the labels of another one are not shown. */
  me: string;
  /** The id on the network. */
  label_id: string;
  /** Null: only its chats are known yet. */
  name: string | null;
  color: number | null;
  is_deleted: Generated<boolean>;
  updated_at: Generated<Date>;
}

export interface StatusUpdateTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  message_id: string;
  type: string;
  content: Json<{
    text?: string;
    caption?: string;
    mime_type?: string;
    background_color?: string;
    font?: number;
  }>;
  /** How many people it was sent to. */
  audience: number;
  /** Null: the network's answer is not known. */
  sent_at: Date | null;
  created_at: Generated<Date>;
}

export interface StatusViewTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  status: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  viewed_at: Date;
}

export interface LabelledTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  label: number;
  /** Of the chat. */
  jid: string;
  /** Null: the chat itself has the label. */
  message_id: string | null;
  created_at: Generated<Date>;
}

export interface GroupChatTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  jid: string;
  subject: string;
  description: string | null;
  owner: string | null;
  announce: boolean;
  locked: boolean;
  join_approval: boolean;
  members_can_add: boolean;
  participants: Json<
    { jid: string; lid: string | null; phone: string | null; admin: "admin" | "superadmin" | null }[]
  >;
  group_created_at: Date | null;
  /** When the gateway last read the whole group from the network. */
  read_at: Generated<Date>;
  /** The stored data may be outdated; the next read fetches the group again. */
  is_stale: Generated<boolean>;
  updated_at: Generated<Date>;
}

export interface GroupListTable {
  instance_id: number;
  account_id: number;
  /** The JID of the pairing to which the groups belong. */
  me: string;
  /** When the gateway last read all groups from the network. */
  read_at: Date | null;
  is_stale: Generated<boolean>;
}

export interface LeadTable {
  id: Generated<number>;
  account_id: number;
  phone: string | null;
  lid: string | null;
  name: string | null;
  email: string | null;
  status: Generated<string>;
  kanban_status: string | null;
  tags: Generated<string[]>;
  custom_fields: Json<Record<string, string | number | boolean>>;
  opted_out_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface LeadNoteTable {
  id: Generated<number>;
  account_id: number;
  lead_id: number;
  user_id: number | null;
  note: string;
  created_at: Generated<Date>;
}

export interface CustomFieldTable {
  id: Generated<number>;
  account_id: number;
  name: string;
  type: "text" | "number" | "boolean" | "date" | "select";
  options: Generated<string[]>;
  created_at: Generated<Date>;
}

export interface QuickReplyTable {
  id: Generated<number>;
  account_id: number;
  shortcut: string;
  title: string | null;
  content: string;
  media_url: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface ConsentTable {
  id: Generated<number>;
  account_id: number;
  user_id: number | null;
  lead_id: number | null;
  phone: string | null;
  /** Whom the consent is about, computed from user, lead and phone; all null: the account itself. */
  subject: GeneratedAlways<string>;
  purpose: string;
  consent_type: string;
  granted: boolean;
  text_version: string | null;
  text_hash: string | null;
  channel: string | null;
  ip: string | null;
  created_at: Generated<Date>;
}

export interface SuppressionTable {
  account_id: number;
  /** Keyed digest: without the secret key it does not reveal the phone number. */
  digest: Buffer;
  reason: string;
  created_at: Generated<Date>;
}

export interface CampaignTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  /** Set while the campaign is in progress. */
  lane: number | null;
  name: string;
  status: Generated<
    "created" | "scheduled" | "queued" | "running" | "paused" | "completed" | "cancelled" | "failed"
  >;
  /** Why the campaign is paused or failed. */
  status_reason: string | null;
  message_template: string;
  media: Json<Record<string, unknown>> | null;
  min_delay_ms: number;
  max_delay_ms: number;
  scheduled_at: Date | null;
  quiet_hours: Json<{ start: string; end: string; tz: string }> | null;
  daily_limit: number | null;
  consent_purpose: string | null;
  stop_on_error_rate: number | null;
  /** Earliest time of the next recipient. */
  next_at: Date | null;
  /** Why a running campaign sends nothing until then. */
  waiting: Json<{
    reason: "quiet_hours" | "daily_limit" | "delay" | "reachout_timelock";
    until: string;
  }> | null;
  /** As of the last report of its progress. */
  totals: Json<Record<string, number>> | null;
  started_at: Date | null;
  /** Last start; earlier errors do not stop the campaign. */
  resumed_at: Date | null;
  ended_at: Date | null;
  archived_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface CampaignRecipientTable {
  id: Generated<number>;
  account_id: number;
  campaign_id: number;
  phone: string;
  variables: Json<Record<string, string>>;
  status: Generated<"pending" | "queued" | "sent" | "delivered" | "read" | "failed" | "skipped">;
  /** Why the recipient was skipped or failed. */
  reason: string | null;
  /** The id of the message, set once it is queued. */
  message: number | null;
  /** The recipient's identity, one form per number; set once queued, unique within a campaign. */
  person: string | null;
  planned_at: Date | null;
  decided_at: Date | null;
  created_at: Generated<Date>;
}

export type IntegrationStatus = "unknown" | "ok" | "warning" | "failing" | "auth_error" | "inactive";

export interface IntegrationTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  provider: string;
  enabled: Generated<boolean>;
  lane: number;
  /** Lane of the requests from the provider. */
  inbound_lane: number | null;
  event_names: string[];
  /** Tags of events that the integration does not receive. */
  exclude: Generated<string[]>;
  /** Without the secrets. */
  config: Json<Record<string, unknown>>;
  /** Sealed object of the secrets, both the user's and the provider's. */
  secret: Buffer | null;
  /** What the provider reported, such as its version. */
  state: Json<Record<string, unknown>>;
  status: Generated<IntegrationStatus>;
  last_error: string | null;
  /** What `last_error` is about, if it is known. */
  last_error_code: string | null;
  last_error_params: Json<ReasonParams> | null;
  last_error_at: Date | null;
  last_success_at: Date | null;
  paused_until: Date | null;
  /** Since when the provider refuses every request, for a reason that a person must correct. */
  refused_since: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** One message, or one part of it, transferred between WhatsApp and the provider. */
export interface IntegrationLinkTable {
  id: Generated<number>;
  account_id: number;
  integration_id: number;
  chat: string;
  /** The network's id of the message. */
  message_id: string | null;
  part: Generated<number>;
  provider_conversation_id: string | null;
  provider_message_id: string | null;
  /** Where the message was written. */
  origin: "whatsapp" | "provider";
  /** `claimed`: a send to the provider is in progress, or its process died; `waiting`: not sent yet. */
  status: Generated<"claimed" | "waiting" | "done" | "failed" | "unknown" | "skipped">;
  error: string | null;
  attempts: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** The state of an integration in one chat. */
export interface IntegrationChatTable {
  account_id: number;
  integration_id: number;
  chat: string;
  provider_conversation_id: string | null;
  state: Json<Record<string, unknown>>;
  /** Automatic replies since `replies_since`. */
  replies: Generated<number>;
  replies_since: Date | null;
  /** Consecutive pauses; each is longer than the previous one. */
  pauses: Generated<number>;
  replies_paused_until: Date | null;
  updated_at: Generated<Date>;
}

/** A request from a provider, as received. */
export interface IntegrationInboundTable {
  id: Generated<number>;
  account_id: number;
  integration_id: number;
  /** The provider's id of the delivery, if it has one. */
  delivery: string | null;
  body: Json<Record<string, unknown>>;
  created_at: Generated<Date>;
}

export type BackupStatus = "running" | "verified" | "unverified" | "failed";

export interface BackupTable {
  id: string;
  status: Generated<BackupStatus>;
  /** Why the backup failed or could not be verified. */
  reason: string | null;
  trigger: "request" | "schedule" | "command";
  /** File name in the backup directory; null: no file, or deleted. */
  file: string | null;
  /** The node that makes or made the backup. */
  node: string | null;
  size: number | null;
  checksum: string | null;
  key_id: string | null;
  /** Number of rows by table. */
  rows: Json<Record<string, number>> | null;
  app_version: string | null;
  /** The last migration in the backup. */
  schema_version: string | null;
  created_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  verified_at: Date | null;
}

/** One row per restore of this database from a backup. */
export interface RestoreRecordTable {
  id: Generated<number>;
  backup: string;
  backup_at: Date;
  restored_at: Generated<Date>;
  /** The operator's decision about the held jobs. */
  action: "release" | "discard" | null;
  decided_at: Date | null;
}

/** Jobs that were pending in the backup; they wait for the operator's decision. */
export interface HeldJobTable extends Omit<JobTable, "id" | "run_at" | "attempts"> {
  id: number;
  kind: string;
  run_at: Date;
  attempts: number;
}

/** Erasures, by ids only, so that a restore can repeat them. */
export interface ErasureLogTable {
  id: Generated<number>;
  account_id: number;
  scope: string;
  subject: Json<Record<string, unknown>>;
  created_at: Generated<Date>;
  /** Added by a restore; still to be repeated in this database. */
  is_due: Generated<boolean>;
}

/** An account's request to export or anonymize its data. */
export interface DataRequestTable {
  id: Generated<number>;
  account_id: number;
  request_type: "export" | "anonymize";
  scope: "account" | "messages" | "leads" | "conversations" | "all" | "person" | null;
  /** Only while one person is erased. */
  person: ColumnType<{ addresses: string[]; leads: number[] } | null, string | null | undefined, null>;
  status: Generated<"processing" | "completed" | "failed">;
  /** Null: a restored database repeats an earlier erasure. */
  requested_by: number | null;
  ip: string | null;
  /** The last id of each table that the request covers. */
  until: Json<Record<string, number>>;
  progress: Generated<{ step: number; after: unknown }>;
  affected: Generated<Record<string, number>>;
  due_at: Generated<Date>;
  created_at: Generated<Date>;
  processed_at: Date | null;
}

export interface PseudonymTable {
  request: number;
  subject: string;
  name: string;
}

/** At most one row; none before the first search. */
export interface ClientVersionTable {
  id: Generated<number>;
  /** The last of the version's three numbers. */
  revision: number | null;
  /** When a search last found a valid version, new or unchanged. */
  found_at: Date | null;
  changed_at: Date | null;
  searched_at: Date | null;
  /** When a node last requested a search; done if not later than `searched_at`. */
  requested_at: Date | null;
  /** Why the last search found no version. */
  problem: string | null;
  /** When WhatsApp intends to refuse the version with the number `expires_revision`. */
  expires_at: Date | null;
  expires_revision: number | null;
  /** The newest that a list of others names; null while WhatsApp's own pages can be read. */
  listed_revision: number | null;
  /** Of the last warning, how many days before that it was due. */
  warned_days: number | null;
  /** The last instance that has it; null: all have. */
  warned_instance_id: number | null;
}

/** An application that has registered itself for OAuth. */
export interface OAuthClientTable {
  id: string;
  name: string;
  redirect_uris: string[];
  /** Where it was registered from: a /24 of IPv4 or a /48 of IPv6. */
  network: string;
  created_at: Generated<Date>;
  last_used_at: Date | null;
}

/** What one user allowed one application. */
export interface OAuthGrantTable {
  id: GeneratedAlways<number>;
  account_id: number;
  user_id: number;
  /** The id of a registered client, or the URL of its document. */
  client_id: string;
  client_name: string;
  redirect_host: string;
  scopes: ("read" | "send" | "groups")[];
  instance_ids: number[];
  created_at: Generated<Date>;
  /** No token outlives it. */
  expires_at: Generated<Date>;
  /** When the application fetched its first tokens. */
  activated_at: Date | null;
  last_used_at: Date | null;
}

export interface OAuthCodeTable {
  /** SHA-256 of the code. */
  digest: Buffer;
  grant_id: number;
  redirect_uri: string;
  /** S256 of the client's verifier. */
  challenge: string;
  expires_at: Date;
  used_at: Date | null;
}

export interface OAuthTokenTable {
  /** SHA-256 of the token. */
  digest: Buffer;
  grant_id: number;
  kind: "access" | "refresh";
  scopes: ("read" | "send" | "groups")[];
  expires_at: Date;
  /** When a refresh token was exchanged. */
  used_at: Date | null;
}

/** All tables of the gateway, with the columns that the migrations create. */
export interface Tables {
  node: NodeTable;
  lane: LaneTable;
  job: JobTable;
  plan: PlanTable;
  account: AccountTable;
  account_user: AccountUserTable;
  sign_in: SignInTable;
  welcome_link: WelcomeLinkTable;
  instance: InstanceTable;
  use_counter: UseCounterTable;
  api_key: ApiKeyTable;
  instance_link: InstanceLinkTable;
  credential: CredentialTable;
  pairing_key: PairingKeyTable;
  journal_entry: JournalEntryTable;
  connection_log: ConnectionLogTable;
  contact: ContactTable;
  number_check: NumberCheckTable;
  conversation: ConversationTable;
  message: MessageTable;
  message_search: MessageSearchTable;
  outgoing_media: OutgoingMediaTable;
  media: MediaTable;
  blob: BlobTable;
  stored_file: StoredFileTable;
  storage_usage: StorageUsageTable;
  action: ActionTable;
  idempotency: IdempotencyTable;
  account_idempotency: AccountIdempotencyTable;
  message_usage: MessageUsageTable;
  api_log: ApiLogTable;
  event_counter: EventCounterTable;
  event: EventTable;
  webhook: WebhookTable;
  delivery: DeliveryTable;
  attempt: AttemptTable;
  secret_check: SecretCheckTable;
  message_receipt: MessageReceiptTable;
  poll_vote: PollVoteTable;
  group_chat: GroupChatTable;
  group_list: GroupListTable;
  label: LabelTable;
  labelled: LabelledTable;
  status_update: StatusUpdateTable;
  status_view: StatusViewTable;
  audit: AuditTable;
  audit_pending: AuditPendingTable;
  audit_seal: AuditSealTable;
  sealed_key: SealedKeyTable;
  monthly_message_count: MonthlyMessageCountTable;
  message_count_cursor: MessageCountCursorTable;
  uncounted_message: UncountedMessageTable;
  lead: LeadTable;
  lead_note: LeadNoteTable;
  custom_field: CustomFieldTable;
  quick_reply: QuickReplyTable;
  consent: ConsentTable;
  /** The latest consent for each subject and purpose. */
  consent_state: ConsentTable;
  suppression: SuppressionTable;
  data_request: DataRequestTable;
  pseudonym: PseudonymTable;
  campaign: CampaignTable;
  campaign_recipient: CampaignRecipientTable;
  integration: IntegrationTable;
  integration_link: IntegrationLinkTable;
  integration_chat: IntegrationChatTable;
  integration_inbound: IntegrationInboundTable;
  backup: BackupTable;
  restore_record: RestoreRecordTable;
  held_job: HeldJobTable;
  erasure_log: ErasureLogTable;
  client_version: ClientVersionTable;
  oauth_client: OAuthClientTable;
  oauth_grant: OAuthGrantTable;
  oauth_code: OAuthCodeTable;
  oauth_token: OAuthTokenTable;
}
