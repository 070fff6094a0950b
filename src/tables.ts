import type { Generated, JSONColumnType } from "kysely";

type Json<T extends object> = JSONColumnType<T, string, string>;

export interface NodeTable {
  id: string;
  boot: number;
  beat: Generated<number>;
  dead: Generated<boolean>;
  url: string | null;
  roles: string[];
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
  created_at: Generated<Date>;
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
  created_at: Generated<Date>;
  expires_at: Date;
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
  pairing_phone: string | null;
  pairing_code: string | null;
  last_qr_at: Date | null;
  connected_at: Date | null;
  disconnected_at: Date | null;
  last_seen_at: Date | null;
  last_disconnect_reason: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  removed_at: Date | null;
}

export interface ApiKeyTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  digest: Buffer;
  last4: string;
  created_at: Generated<Date>;
  last_used_at: Date | null;
  expires_at: Date | null;
}

export interface CredentialTable {
  instance_id: number;
  generation: number;
  secret: Buffer | null;
  updated_at: Generated<Date>;
}

export interface PairingKeyTable {
  instance_id: number;
  generation: number;
  kind: string;
  id: string;
  secret: Buffer;
}

export interface PairingLetterTable {
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
  push_name: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface ConversationTable {
  id: Generated<number>;
  account_id: number;
  instance_id: number;
  jid: string;
  phone: string | null;
  title: string | null;
  type: "contact" | "group";
  created_at: Generated<Date>;
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
  part: number;
  bytes: Buffer;
  created_at: Generated<Date>;
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
  body: Json<{ text?: string; reaction?: string }>;
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

export interface EventHeadTable {
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
  url: string;
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
  api_key: ApiKeyTable;
  credential: CredentialTable;
  pairing_key: PairingKeyTable;
  pairing_letter: PairingLetterTable;
  connection_log: ConnectionLogTable;
  contact: ContactTable;
  conversation: ConversationTable;
  message: MessageTable;
  outgoing_media: OutgoingMediaTable;
  action: ActionTable;
  idempotency: IdempotencyTable;
  event_head: EventHeadTable;
  event: EventTable;
  webhook: WebhookTable;
  delivery: DeliveryTable;
  attempt: AttemptTable;
  secret_check: SecretCheckTable;
}
