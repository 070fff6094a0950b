import type { Generated, GeneratedAlways, JSONColumnType } from "kysely";

type Json<T extends object> = JSONColumnType<T, string, string>;

export interface NodeTable {
  id: string;
  boot: number;
  beat: Generated<number>;
  dead: Generated<boolean>;
  url: string | null;
  roles: string[];
  /** Bytes that the process takes now, and that it took when it started, before its first session. */
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
  /** Of stored files, in units of 1,048,576 bytes. */
  max_storage_mb: number | null;
  /** Customers of a reseller. */
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
  /** The reseller whose customer it is. */
  parent_id: number | null;
  trial_ends_at: Date | null;
  /** Put out of service by the owner of the gateway, which no reseller lifts. */
  held_by_owner: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  /** Hidden from then on; the row goes when nothing of the account is left. */
  removed_at: Date | null;
}

export interface AccountUserTable {
  id: Generated<number>;
  account_id: number;
  name: string;
  email: string;
  role: "super_admin" | "admin" | "agent";
  password_hash: string;
  created_at: Generated<Date>;
}

export interface SignInTable {
  id: string;
  user_id: number;
  /** When the password was given last. */
  confirmed_at: Generated<Date>;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface SignInFailureTable {
  kind: "network" | "pair" | "account" | "device";
  key: Buffer;
  failures: number;
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
  /** What a browser has to sign. */
  options: Record<string, unknown> | null;
  code: string | null;
  /** ISO 8601. */
  expires_at: string;
}

export interface InstanceTable {
  id: Generated<number>;
  account_id: number;
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
  /** Why the last pairing failed, as plain data of the network. */
  pairing_error: Json<Record<string, unknown>> | null;
  pairing_phone: string | null;
  pairing_code: string | null;
  /** Where the passkey ceremony of a pairing stands; null while no passkey is asked for. */
  passkey: Json<PasskeyRow> | null;
  /** What the network wants a person to see to. */
  attention: Json<{ code: "passkey_challenge"; since: string }> | null;
  last_qr_at: Date | null;
  connected_at: Date | null;
  disconnected_at: Date | null;
  last_seen_at: Date | null;
  last_disconnect_reason: string | null;
  /** Until then the network refuses messages to people who are not in touch with this account. */
  new_chats_locked_until: Date | null;
  /** How often in a row that came about; each makes the wait longer where the network tells no end. */
  new_chat_locks: Generated<number>;
  /** Until then nothing is sent, as sends to several chats in a row did not reach the network. */
  sends_held_until: Date | null;
  /** How often in a row that came about; 0: sends reach the network. */
  send_holds: Generated<number>;
  /** Tries to connect that failed since the last connection, or since it was asked for. */
  reconnect_attempts: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  removed_at: Date | null;
}

/** A link with which somebody without an account links a phone; one per instance. */
export interface InstanceLinkTable {
  /** SHA-256 of the token. */
  digest: Buffer;
  account_id: number;
  instance_id: number;
  /** SHA-256 of the secret of the browser that opened it first. */
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
  created_at: Generated<Date>;
  last_used_at: Date | null;
  expires_at: Date | null;
}

export interface CredentialTable {
  instance_id: number;
  generation: number;
  secret: Buffer | null;
  /** What a pairing under way needs to go on after a restart. */
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
  /** In the order in which they came. */
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
  /** In the phone's address book. */
  name: string | null;
  push_name: string | null;
  verified_name: string | null;
  /** Null: the network was not asked. */
  is_business: boolean | null;
  about: string | null;
  picture_url: string | null;
  is_blocked: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** What the network answered about a number. */
export interface NumberCheckTable {
  instance_id: number;
  account_id: number;
  number: string;
  /** Null: it is not on the network. */
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
  /** The conversation that this one has become part of. */
  merged_into: number | null;
  /** While messages may still arrive in a merged one. */
  merged_at: Date | null;
  last_message_at: Date | null;
  archived: Generated<boolean>;
  pinned: Generated<boolean>;
  muted_until: Date | null;
  /** By hand, whatever has been read. */
  marked_unread: Generated<boolean>;
  created_at: Generated<Date>;
}

/** The words of a message, each with its instance in front of it. */
export interface MessageSearchTable {
  account_id: number;
  instance_id: number;
  /** When the message was taken; of what others wrote, its time. */
  at: Date;
  /** Of the message. */
  id: number;
  words: string;
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
  status: "pending" | "sent" | "delivered" | "read" | "played" | "failed" | "cancelled" | "received";
  error: Json<{ code: string; message: string; retryable: boolean }> | null;
  job_id: string | null;
  client_message_id: string | null;
  track_id: string | null;
  metadata: Json<Record<string, unknown>> | null;
  delay_ms: number | null;
  deadline: Date | null;
  submitted_at: Date | null;
  outcome_at: Date | null;
  edited_at: Date | null;
  deleted_at: Date | null;
  /** Inbound: when this end has read it. */
  read_at: Date | null;
  sent_at: Generated<Date>;
  created_at: Generated<Date>;
}

export interface OutgoingMediaTable {
  id: string;
  /** Null: put there by an older version. */
  account_id: number | null;
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
  /** Why it is not there. */
  reason: string | null;
  blob: number | null;
  /** Of a send: its parts in `outgoing_media`, until the file is in the store. */
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
  /** In the store. */
  name: string;
  sha256: string;
  size: number;
  /** The node in whose folder it is; null: every node reaches it. */
  node: string | null;
  status: Generated<"arriving" | "kept" | "doomed">;
  created_at: Generated<Date>;
}

/** A file in the store, as an account has it; triggers keep it. */
export interface StoredFileTable {
  account_id: number;
  blob: number;
  size: number;
  /** Media rows of the account that name it. */
  names: number;
}

/** What the files of an account take up; triggers keep it. */
export interface StorageUsageTable {
  account_id: number;
  bytes: number;
}

export interface ActionTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  jid: string;
  /** The network id of the action itself. */
  message_id: string;
  /** The messages that it is done to. */
  target: Json<{ id: string; from_me: boolean; sender?: string }[]>;
  action: "react" | "read" | "edit" | "delete";
  body: Json<{ text?: string; media_type?: string; mentions?: string[]; reaction?: string }>;
  error: Json<{ code: string; message: string; retryable: boolean }> | null;
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
  /** Sealed; null only inside the transaction that makes what it tells of. */
  answer: Buffer | null;
  created_at: Generated<Date>;
}

export interface MessageUsageTable {
  account_id: number;
  /** Its first day, UTC. */
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
  /** The pattern, never the address with its ids. */
  route: string;
  status: number;
  code: string | null;
  duration_ms: number;
  /** Without its last part. */
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
  traits: string[];
  body: Buffer;
  created_at: Date;
}

export interface WebhookTable {
  id: Generated<number>;
  account_id: number | null;
  instance_id: number | null;
  lane: number | null;
  name: string;
  /** Masked, once `address` is set. */
  url: string;
  /** The whole URL, sealed; null where there is none, or an earlier version has written it. */
  address: Buffer | null;
  is_default: Generated<boolean>;
  is_active: Generated<boolean>;
  /** As the customer named them; empty means the default set. */
  events: string[];
  /** What `events` stands for, name by name. */
  event_names: string[];
  exclude: Generated<string[]>;
  ordering: Generated<"chat" | "strict" | "none">;
  retry_enabled: Generated<boolean>;
  max_attempts: Generated<number>;
  secret: Buffer;
  /** Signs beside the new secret until `previous_until`. */
  previous_secret: Buffer | null;
  previous_until: Date | null;
  headers: Buffer | null;
  format: Generated<"native" | "evolution" | "uazapi" | "waha">;
  /** Sealed. */
  format_token: Buffer | null;
  disabled_reason: string | null;
  disabled_at: Date | null;
  /** Since when no delivery has succeeded. */
  failing_since: Date | null;
  /** Events given up since then. */
  failed_events: Generated<number>;
  warned_at: Date | null;
  last_delivery_at: Date | null;
  last_status: number | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  /** Hidden from then on; the row goes when nothing is queued for it any more. */
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
  /** Of a user the user, of a key its instance. */
  actor_id: number | null;
  credential_id: string | null;
  action: string;
  target_type: string;
  target_id: string | null;
  /** Names of what was changed, never values. */
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
  /** Its first day, UTC. */
  month: string;
  sent: number;
}

export interface MessageCountCursorTable {
  id: Generated<boolean>;
  /** The last message that is counted. */
  message: number;
}

export interface UncountedMessageTable {
  message: number;
  account_id: number;
  month: string;
}

/** Keys that stay the same when the secret key is changed. */
export interface SealedKeyTable {
  name: string;
  sealed: Buffer;
}

/** How far one member of a group has come with a message of ours. */
export interface MessageReceiptTable {
  message: number;
  /** The address under which the member stood here first. */
  person: string;
  account_id: number;
  instance_id: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  /** Was in the group when the message went out. */
  is_addressee: boolean;
  delivered_at: Date | null;
  read_at: Date | null;
  played_at: Date | null;
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
  participants: Json<
    { jid: string; lid: string | null; phone: string | null; admin: "admin" | "superadmin" | null }[]
  >;
  group_created_at: Date | null;
  /** When the whole of it was last read from the network. */
  read_at: Generated<Date>;
  /** Something changed that was not told. */
  is_stale: Generated<boolean>;
  updated_at: Generated<Date>;
}

export interface GroupListTable {
  instance_id: number;
  account_id: number;
  /** The jid whose groups they are. */
  me: string;
  /** When all of them were last read from the network. */
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
  /** Whom it is about, made from the three before; the account itself when all are null. */
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
  /** Keyed: without the secret key it does not tell the phone. */
  digest: Buffer;
  reason: string;
  created_at: Generated<Date>;
}

export interface CampaignTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  /** While it is under way. */
  lane: number | null;
  name: string;
  status: Generated<
    "created" | "scheduled" | "queued" | "running" | "paused" | "completed" | "cancelled" | "failed"
  >;
  /** Why it is paused or failed. */
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
  /** The earliest moment of the next recipient. */
  next_at: Date | null;
  started_at: Date | null;
  /** When it was last started; errors from before do not stop it. */
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
  /** Why it was skipped, or failed. */
  reason: string | null;
  /** Row number, from the moment it is queued. */
  message: number | null;
  /** The person who is written to, one spelling for each number, from the moment it is queued; once in a campaign. */
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
  provider: "n8n" | "typebot" | "chatwoot";
  enabled: Generated<boolean>;
  lane: number;
  /** For what the other side tells us. */
  inbound_lane: number | null;
  event_names: string[];
  /** Traits of events that it does not get. */
  exclude: Generated<string[]>;
  /** Without its secrets. */
  config: Json<Record<string, unknown>>;
  /** Sealed: an object of the secrets, those that the user gave and those that the provider did. */
  secret: Buffer | null;
  /** What the provider told us, such as its version. */
  state: Json<Record<string, unknown>>;
  status: Generated<IntegrationStatus>;
  last_error: string | null;
  last_error_at: Date | null;
  last_success_at: Date | null;
  paused_until: Date | null;
  /** Since when every call is refused, for a reason that a person has to correct. */
  refused_since: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** One message, or one part of it, that has been taken across. */
export interface IntegrationLinkTable {
  id: Generated<number>;
  account_id: number;
  integration_id: number;
  chat: string;
  /** On the network. */
  message_id: string | null;
  part: Generated<number>;
  provider_conversation_id: string | null;
  provider_message_id: string | null;
  /** Where it was written. */
  origin: "whatsapp" | "provider";
  /** `claimed`: somebody is about to tell the other side, or died over it; `waiting`: it surely does not know yet. */
  status: Generated<"claimed" | "waiting" | "done" | "failed" | "unknown" | "skipped">;
  error: string | null;
  attempts: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** What an integration knows of a chat. */
export interface IntegrationChatTable {
  account_id: number;
  integration_id: number;
  chat: string;
  provider_conversation_id: string | null;
  state: Json<Record<string, unknown>>;
  /** Automatic answers since `replies_since`. */
  replies: Generated<number>;
  replies_since: Date | null;
  /** In a row, each longer than the one before. */
  pauses: Generated<number>;
  replies_paused_until: Date | null;
  updated_at: Generated<Date>;
}

/** What a provider has told us, as it came. */
export interface IntegrationInboundTable {
  id: Generated<number>;
  account_id: number;
  integration_id: number;
  /** The provider's name of the delivery, where it has one. */
  delivery: string | null;
  body: Json<Record<string, unknown>>;
  created_at: Generated<Date>;
}

export type BackupStatus = "running" | "verified" | "unverified" | "failed";

export interface BackupTable {
  id: string;
  status: Generated<BackupStatus>;
  /** Why it failed, or could not be verified. */
  reason: string | null;
  trigger: "request" | "schedule" | "command";
  /** Name of the file in the backup directory; null: it is not there, or not any more. */
  file: string | null;
  /** The node that makes or has made it. */
  node: string | null;
  size: number | null;
  checksum: string | null;
  key_id: string | null;
  /** Rows by table. */
  rows: Json<Record<string, number>> | null;
  app_version: string | null;
  /** The last migration that it holds. */
  schema_version: string | null;
  created_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  verified_at: Date | null;
}

/** One row where this database came out of a backup. */
export interface RestoreRecordTable {
  id: Generated<number>;
  backup: string;
  backup_at: Date;
  restored_at: Generated<Date>;
  /** What is to become of the held jobs. */
  action: "release" | "discard" | null;
  decided_at: Date | null;
}

/** Jobs that were pending in a backup: nobody runs them until somebody has decided. */
export interface HeldJobTable extends Omit<JobTable, "id" | "run_at" | "attempts"> {
  id: number;
  kind: string;
  run_at: Date;
  attempts: number;
}

/** What was erased, by ids only: a restore does it again. */
export interface ErasureLogTable {
  id: Generated<number>;
  account_id: number;
  scope: string;
  subject: Json<Record<string, unknown>>;
  created_at: Generated<Date>;
  /** It came from elsewhere and is to be done again here. */
  is_due: Generated<boolean>;
}

/** What an account has asked about its data. */
export interface DataRequestTable {
  id: Generated<number>;
  account_id: number;
  request_type: "export" | "anonymize";
  scope: "account" | "messages" | "leads" | "conversations" | "all" | null;
  status: Generated<"processing" | "completed" | "failed">;
  /** Null: a restored database does again what was erased before. */
  requested_by: number | null;
  ip: string | null;
  /** The last row of each table that it is about. */
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

/** One row at most; none before the first search. */
export interface ClientVersionTable {
  id: Generated<number>;
  /** The last of the three numbers of the version. */
  revision: number | null;
  /** The last search that found a valid version, this one or a newer one. */
  found_at: Date | null;
  changed_at: Date | null;
  searched_at: Date | null;
  /** A node asks for a search; done when it is not later than `searched_at`. */
  wanted_at: Date | null;
  /** Why the last search found nothing. */
  problem: string | null;
}

/** Every table of the gateway, column by column as the migrations make them. */
export interface Tables {
  node: NodeTable;
  lane: LaneTable;
  job: JobTable;
  plan: PlanTable;
  account: AccountTable;
  account_user: AccountUserTable;
  sign_in: SignInTable;
  instance: InstanceTable;
  sign_in_failure: SignInFailureTable;
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
  group_chat: GroupChatTable;
  group_list: GroupListTable;
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
  /** The last word on each subject and purpose. */
  consent_state: ConsentTable;
  suppression: SuppressionTable;
  data_request: DataRequestTable;
  surrogate: PseudonymTable;
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
}
