import type { GatewayProgram } from "../gateway-program.ts";
import type { GatewayProfile } from "../profile/gateway-profile.ts";

/** All that the bench knows about a gateway. A module of another gateway exports one as `adapter`. */
export interface GatewayAdapter {
  name: string;
  /** Starts it on this WhatsApp server, with nothing stored. */
  start(network: BenchNetwork, options: GatewayStart): Promise<GatewayUnderTest>;
  /** Sends a text; the response comes when the network has it, or with `isAsync` when it is accepted. */
  toSendRequest(session: GatewaySession, number: string, text: string, isAsync: boolean): SendRequest;
  /** The text of a webhook's body that reports an inbound message. */
  readInboundText(body: unknown): string | undefined;
}

export interface GatewayStart {
  nodes: number;
  /** Of Waygate only. */
  program: GatewayProgram;
}

/** A WhatsApp server on loopback. */
export interface BenchNetwork {
  url: string;
  /** Public key of the authority behind its noise certificate. */
  rootKeyHex: string;
  /** PEM of the authority behind the HTTPS of files. */
  caFile: string;
}

export interface GatewayUnderTest {
  /** One for each node. */
  baseUrls: readonly string[];
  createSession(): Promise<GatewaySession>;
  /** A connected session on a network that takes every text at once, if the gateway has one. */
  createSandboxSession?(): Promise<GatewaySession>;
  /** The content of a QR that a phone can scan. */
  showQr(session: GatewaySession): Promise<string>;
  isConnected(session: GatewaySession): Promise<boolean>;
  /** For inbound messages only. */
  setWebhook(session: GatewaySession, url: string): Promise<void>;
  /** Process ids of its nodes and of its database, the parent of the others first. */
  processes(): Promise<{ gateway: number[]; database: number[] }>;
  /** Stores so many messages in the session as if they had been sent and received over a year. */
  storeMessages?(session: GatewaySession, count: number): Promise<void>;
  /** Begins to record where time goes, if the program is profiled; the returned function ends that. */
  record?(): Promise<() => Promise<GatewayProfile>>;
  stop(): Promise<void>;
}

/** Goes to another process as JSON. */
export interface GatewaySession {
  id: string;
  key: string;
}

export interface SendRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** `waygate`, or the path of a module. */
export async function loadAdapter(modulePath: string): Promise<GatewayAdapter> {
  const url = modulePath === "waygate" ? new URL("./waygate-adapter.js", import.meta.url) : modulePath;
  const { adapter } = (await import(String(url))) as { adapter?: GatewayAdapter };
  if (adapter) return adapter;
  throw new Error(`${modulePath} exports no \`adapter\`. Export an object of the type GatewayAdapter.`);
}
