import type { SocketConfig } from "baileys";
import type { ClientVersions } from "../client-version.ts";
import type { NetworkDriver, OpenSessionOptions } from "../driver.ts";
import { loadBaileys } from "./load-baileys.ts";
import type { SessionEgress } from "./session-transport.ts";
import { type WhatsAppLog, WhatsAppRuntime } from "./whatsapp-runtime.ts";
import { WhatsAppSession } from "./whatsapp-session.ts";
import { WHATSAPP_TIMING, type WhatsAppTiming } from "./whatsapp-timing.ts";

export interface WhatsAppDriverOptions {
  /** Where the network is, in place of its own address. */
  url?: string;
  /** Hex; the root of the network's certificates, honoured for a `url` on this machine only. */
  rootKey?: string;
  /** Of the network's web client that we say we are; the one built into Baileys when absent. */
  versions?: ClientVersions;
  /** How sessions without a proxy of their own reach the network; straight when absent. */
  egress?: SessionEgress;
  log?: WhatsAppLog;
  timing?: Partial<WhatsAppTiming>;
  /** Further options of the client library, for tests. */
  socket?: Partial<SocketConfig>;
  /** Loads the client library, in place of the usual way, for tests. */
  load?: typeof loadBaileys;
}

export interface WhatsAppDriver extends NetworkDriver {
  /** Forgets every session without a report and without a word to the network, as kill -9 does. */
  abandon(): void;
}

/** WhatsApp, through its web clients' protocol; nothing is loaded before the first session connects. */
export function createWhatsAppDriver(options: WhatsAppDriverOptions = {}): WhatsAppDriver {
  const { url, rootKey, versions, egress = {}, log, socket = {}, load = loadBaileys } = options;
  const timing = { ...WHATSAPP_TIMING, ...options.timing };
  const hub = new WhatsAppRuntime({ url, rootKey, versions, egress, log, load, socket, timing });
  return {
    network: "whatsapp",
    open: (opened: OpenSessionOptions) => new WhatsAppSession(hub, opened),
    abandon() {
      for (const life of [...hub.lives]) life.abandon();
    },
  };
}
