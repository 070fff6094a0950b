import type { SocketConfig } from "baileys";
import type { ClientVersions } from "../client-version.ts";
import type { NetworkDriver, OpenSessionOptions } from "../driver.ts";
import {
  type UnhandledStanzaListener,
  type WhatsAppLog,
  WhatsAppRuntime,
} from "./connection/whatsapp-runtime.ts";
import { createBaileysLoader, type loadBaileys } from "./load-baileys.ts";
import type { SessionEgress } from "./session-transport.ts";
import { WhatsAppSession } from "./whatsapp-session.ts";
import { WHATSAPP_TIMING, type WhatsAppTiming } from "./whatsapp-timing.ts";

export interface WhatsAppDriverOptions {
  /** The URL of the network, if not its own. */
  url?: string;
  /** Hex; the root of the network's certificates, honoured only for a `url` on this machine. */
  rootKey?: string;
  /** The web client version that we report; Baileys' built-in one if absent. */
  versions?: ClientVersions;
  /** How sessions without their own proxy reach the network; directly if absent. */
  egress?: SessionEgress;
  log?: WhatsAppLog;
  timing?: Partial<WhatsAppTiming>;
  /** The kinds of stanzas are tags, which the network chooses. */
  onUnknownStanza?: UnhandledStanzaListener;
  /** Additional options of Baileys, for tests. */
  socket?: Partial<SocketConfig>;
  /** Loads Baileys in another way, for tests. */
  loadBaileys?: typeof loadBaileys;
}

export interface WhatsAppDriver extends NetworkDriver {
  /** Drops every session without reporting or notifying the network, as kill -9 does. */
  terminate(): void;
}

/** WhatsApp, through its web clients' protocol; loads nothing before the first session connects. */
export function createWhatsAppDriver(options: WhatsAppDriverOptions = {}): WhatsAppDriver {
  const { url, rootKey, versions, egress = {}, log, socket = {}, loadBaileys: load } = options;
  const timing = { ...WHATSAPP_TIMING, ...options.timing };
  const onFailure = (err: unknown) => log?.warn({ err }, "whatsapp: Baileys failed");
  const loader = createBaileysLoader({ url, rootKey, onFailure }, load);
  const onUnknownStanza = options.onUnknownStanza ?? (() => {});
  const runtime = new WhatsAppRuntime({ url, versions, egress, log, socket, timing, onUnknownStanza });
  return {
    network: "whatsapp",
    open: (opened: OpenSessionOptions) => new WhatsAppSession(runtime, loader, opened),
    terminate() {
      for (const loop of [...runtime.connectionLoops]) loop.terminate();
    },
  };
}
