import type { Readable } from "node:stream";
import type { z } from "zod";
import type { Conversations, NumberResolver } from "../../core/contacts/contacts.ts";
import type { EventName } from "../../core/events/contract.ts";
import type { EventTag } from "../../core/events/events.ts";
import type { MediaUrls } from "../../core/media/media.ts";
import type { MediaOptions } from "../../core/messages/messages.ts";
import type { Engine, Job, JobResult } from "../../engine/engine.ts";
import type { ReachableSession } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Aliases } from "../../platform/http/route.ts";
import type { Log } from "../../platform/log/log.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import type { ProviderName, TestReport } from "./contract.ts";
import type { IntegrationHealth } from "./delivery/integration-health.ts";
import type { Integration } from "./integration-row.ts";

/** The dependencies of integrations. */
export interface IntegrationDeps {
  db: Db;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  conversations: Conversations;
  /** Finds the address that the network uses for a number. */
  numbers: Pick<NumberResolver, "resolve">;
  /** The live session of an instance, on this node or another, while it is connected. */
  findSession(instanceId: number): Promise<ReachableSession | undefined>;
  /**
   * Opens the file of a message, after its download if necessary; throws the GatewayError with the reason if
   * it is unavailable.
   */
  openFile(mediaId: string): Promise<{
    size: number;
    mime_type: string;
    file_name: string | null;
    read(): Promise<Readable>;
  }>;
  /** URLs of files for the other side. */
  mediaUrls: MediaUrls;
  converter: MediaOptions["converter"];
  /** Largest file. */
  maxBytes: number;
  sendHoldMs: number;
  /** The public URL of the gateway. */
  baseUrl: string;
  /** Invalidates the cached token of the URL that Chatwoot calls, after it may have changed. */
  pathTokens: { invalidate(instanceId: number): void };
  health: IntegrationHealth;
  version: string;
  log: Log;
}

/** An event of the instance for a provider. */
export interface EventWork {
  job: Job;
  integration: Integration;
  event: {
    event_id: string;
    event: string;
    sequence: number;
    /** The canonical key of the chat: by phone if it is known. */
    chat: string;
    /** The bytes that webhooks receive. */
    body: Buffer;
    recorded_at: Date;
    /** `data` of the body. */
    // biome-ignore lint/suspicious/noExplicitAny: each event has data of its own
    data: any;
  };
}

/** A job that the provider has queued, in its lane or in the inbound one. */
export interface TaskWork {
  job: Job;
  integration: Integration;
  /** The argument of `createTaskJob`. */
  task: Record<string, unknown>;
}

/** A configuration to be saved; `before`: the integration as it is saved now. */
export interface IntegrationDraft {
  account_id: number;
  instance_id: number;
  enabled: boolean;
  config: Record<string, unknown>;
  before: Integration | undefined;
}

/** What the other side returned while a configuration was prepared. */
export interface PreparedIntegration {
  state?: Record<string, unknown>;
  /** Secrets that did not come from the user, sealed and never shown. */
  secrets?: Record<string, string>;
  warnings?: string[];
  /** It uses another installation from now on, where the stored ids mean something else. */
  isElsewhere?: boolean;
  /** The configuration if the other side has added to it; else it is stored as it was given. */
  config?: Record<string, unknown>;
}

/** One kind of integration. */
export interface IntegrationProvider {
  readonly name: ProviderName;
  /** All configuration fields, with their defaults. */
  readonly config: z.ZodType<Record<string, unknown>, Record<string, unknown>>;
  readonly aliases: Aliases;
  /** Fields that are stored sealed and shown masked; the first one is the token. */
  readonly secrets: readonly string[];
  /** The field with the URL that the gateway calls. */
  readonly address: string;
  /** The events that go into its lane, and the tags that are excluded. */
  wants(config: Record<string, unknown>): { events: EventName[]; exclude: EventTag[] };
  /** Whether the other side sends webhooks, which have their own lane. */
  readonly wantsEvents?: boolean;
  /** Prepares the save, outside of any transaction; throws the GatewayError that rejects it. */
  prepare?(draft: IntegrationDraft): Promise<PreparedIntegration>;
  /**
   * Undoes the preparation at the other side after the integration was switched off or removed, as far as
   * possible.
   */
  unregister?(integration: Integration): Promise<void>;
  test(integration: Integration): Promise<TestReport>;
  onEvent(work: EventWork): Promise<JobResult>;
  onTask?(work: TaskWork): Promise<JobResult>;
}

export type Providers = Readonly<Record<string, IntegrationProvider>>;
