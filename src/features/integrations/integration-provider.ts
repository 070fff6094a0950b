import type { Readable } from "node:stream";
import type { z } from "zod";
import type { Engine, Job, JobResult } from "../../engine/engine.ts";
import type { SessionOperations } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Aliases } from "../../platform/http/route.ts";
import type { Log } from "../../platform/log/log.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import type { Conversations, NumberResolver } from "../contacts/contacts.ts";
import type { EventName } from "../events/contract.ts";
import type { EventTag } from "../events/events.ts";
import type { MediaLinks } from "../media/media.ts";
import type { MediaOptions } from "../messages/messages.ts";
import type { ProviderName, TestReport } from "./contract.ts";
import type { Integration } from "./integration-row.ts";

/** What integrations are made with. */
export interface IntegrationDeps {
  db: Db;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  conversations: Conversations;
  /** The address under which the network knows a number. */
  numbers: Pick<NumberResolver, "settle">;
  /** The live session of an instance, on this node or another, while it is connected. */
  reachSession(instanceId: number): Promise<SessionOperations | undefined>;
  /** Opens the file of a message, which may have to arrive first; throws the GatewayError that says why it cannot be had. */
  openFile(mediaId: string): Promise<{
    size: number;
    mime_type: string;
    file_name: string | null;
    read(): Promise<Readable>;
  }>;
  /** Addresses of files for the other side. */
  links: MediaLinks;
  converter: MediaOptions["converter"];
  /** Largest file. */
  maxBytes: number;
  sendHoldMs: number;
  /** Where others reach the gateway. */
  baseUrl: string;
  /** Forgets the token in the address that Chatwoot calls, after it may have changed. */
  pathTokens: { forget(instanceId: number): void };
  version: string;
  log: Log;
}

/** An event of the instance on its way to a provider. */
export interface EventWork {
  job: Job;
  integration: Integration;
  event: {
    event_id: string;
    event: string;
    sequence: number;
    /** The canonical key of the chat: by phone where that is known. */
    chat: string;
    /** The bytes that webhooks get. */
    body: Buffer;
    recorded_at: Date;
    /** `data` of the body. */
    // biome-ignore lint/suspicious/noExplicitAny: each event has data of its own
    data: any;
  };
}

/** A job that the provider has queued for itself, in its lane or in the inbound one. */
export interface TaskWork {
  job: Job;
  integration: Integration;
  /** What `taskJob` was given. */
  task: Record<string, unknown>;
}

/** A configuration that is about to be saved; `before`: the integration as it is saved until now. */
export interface IntegrationDraft {
  account_id: number;
  instance_id: number;
  enabled: boolean;
  config: Record<string, unknown>;
  before: Integration | undefined;
}

/** What the other side said while a configuration was prepared. */
export interface PreparedIntegration {
  state?: Record<string, unknown>;
  /** Secrets that the user did not give, kept sealed and never shown. */
  secrets?: Record<string, string>;
  warnings?: string[];
  /** It is with another installation from now on, where the ids that are kept mean something else. */
  isElsewhere?: boolean;
  /** What the configuration is from now on, where the other side has added to it; else it is kept as it was given. */
  config?: Record<string, unknown>;
}

/** One kind of integration. */
export interface IntegrationProvider {
  readonly name: ProviderName;
  /** Everything that may be configured, with its defaults. */
  readonly config: z.ZodType<Record<string, unknown>, Record<string, unknown>>;
  readonly aliases: Aliases;
  /** Fields that are kept sealed and shown masked; the first one is the token. */
  readonly secrets: readonly string[];
  /** The field with the address that we call. */
  readonly address: string;
  /** Which events go into its lane, and which of them do not. */
  wants(config: Record<string, unknown>): { events: EventName[]; exclude: EventTag[] };
  /** Whether the other side tells us things, for which there is a lane of its own. */
  readonly isTold?: boolean;
  /** Makes ready what must be before it is saved, outside of any transaction; throws the GatewayError that refuses. */
  prepare?(draft: IntegrationDraft): Promise<PreparedIntegration>;
  /** Undoes that at the other side after it was switched off or removed, as far as it can. */
  dismiss?(integration: Integration): Promise<void>;
  test(integration: Integration): Promise<TestReport>;
  onEvent(work: EventWork): Promise<JobResult>;
  onTask?(work: TaskWork): Promise<JobResult>;
}

export type Providers = Readonly<Partial<Record<ProviderName, IntegrationProvider>>>;
