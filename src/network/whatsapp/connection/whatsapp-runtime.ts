import type { SocketConfig } from "baileys";
import type { ClientVersion, ClientVersionRejection, ClientVersions } from "../../client-version.ts";
import { ConnectionRateLimiter } from "../../connection-rate-limiter.ts";
import { SharedCaches } from "../keys/session-caches.ts";
import type { SessionEgress } from "../session-transport.ts";
import type { WhatsAppTiming } from "../whatsapp-timing.ts";

export interface WhatsAppLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/** Receives the kind of stanzas, or of parts of them, that are acknowledged and not handled; `times`: how many, or one. */
export type UnhandledStanzaListener = (kind: string, times?: number) => void;

export interface WhatsAppRuntimeOptions {
  url: string | undefined;
  /** The network's web client version; Baileys' built-in one if absent. */
  versions: ClientVersions | undefined;
  egress: SessionEgress;
  timing: WhatsAppTiming;
  log: WhatsAppLog | undefined;
  socket: Partial<SocketConfig>;
  onUnknownStanza: UnhandledStanzaListener;
}

/** State shared by all sessions of a process. */
export class WhatsAppRuntime {
  /** The network's URL; its own if absent. */
  readonly url: string | undefined;
  readonly versions: ClientVersions | undefined;
  readonly egress: SessionEgress;
  readonly timing: WhatsAppTiming;
  readonly log: WhatsAppLog | undefined;
  readonly caches = new SharedCaches();
  readonly connectionRateLimiter: ConnectionRateLimiter;
  readonly connectionLoops = new Set<{ terminate(): void }>();
  /** Additional options of Baileys. */
  readonly socket: Partial<SocketConfig>;
  readonly onUnknownStanza: UnhandledStanzaListener;

  constructor({ url, versions, egress, timing, log, socket, onUnknownStanza }: WhatsAppRuntimeOptions) {
    this.url = url;
    this.versions = versions;
    this.egress = egress;
    this.timing = timing;
    this.log = log;
    this.socket = socket;
    this.onUnknownStanza = onUnknownStanza;
    const { openAtOnce: maxConcurrent, openJitterMs: jitterMs, openGatherMs: collectMs } = timing;
    this.connectionRateLimiter = new ConnectionRateLimiter({
      maxConcurrent,
      jitterMs,
      collectMs,
      perSecond: timing.openPerSecond,
    });
  }

  /** Handles the network's rejection of a connection's version. */
  async reportVersionRejected(version: ClientVersion | undefined): Promise<ClientVersionRejection> {
    if (!this.versions || !version) return OUTDATED;
    return this.versions.reportRejected(version);
  }
}

const OUTDATED: ClientVersionRejection = {
  canRetry: false,
  message: "WhatsApp rejects this version of its web client.",
  action: "Update Waygate, or set WAYGATE_WHATSAPP_VERSION to a current one.",
};
