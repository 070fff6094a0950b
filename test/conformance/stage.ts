import type {
  Content,
  CredentialStore,
  Jid,
  MediaType,
  MessageId,
  NetworkDriver,
} from "../../src/network/driver.ts";

/** The phone with which the gateway is paired. */
export interface PhoneControls {
  /** Digits. */
  readonly number: string;
  scan(qr: string): Promise<void>;
  enterCode(code: string): Promise<void>;
  /** The connection breaks. */
  drop(): Promise<void>;
  ban(): Promise<void>;
  /** The gateway is removed from the linked devices. */
  unlink(): Promise<void>;
}

/** What the contact received from the gateway. */
export type ContactObservation =
  | { type: "message"; id: MessageId; content: Content }
  | { type: "edited"; id: MessageId; text: string; media_type?: MediaType }
  | { type: "deleted"; id: MessageId }
  | { type: "reaction"; id: MessageId; reaction: string }
  | { type: "read"; ids: MessageId[] };

/** A contact on the network who talks with the paired phone. */
export interface ContactControls {
  readonly jid: Jid;
  /** Digits. */
  readonly number: string;
  sendMessage(content: Content, options?: { group?: boolean }): Promise<MessageId>;
  editMessage(id: MessageId, text: string): Promise<void>;
  deleteMessage(id: MessageId): Promise<void>;
  reactTo(id: MessageId, reaction: string): Promise<void>;
  markRead(id: MessageId): Promise<void>;
  startPhoneCall(): Promise<void>;
  observed(): Promise<ContactObservation[]>;
  /** The file of a message that the contact saw. */
  file(id: MessageId): Promise<Uint8Array | undefined>;
}

/** A driver with a network that a test can control. */
export interface DriverHarness {
  readonly driver: NetworkDriver;
  /** An empty store. */
  credentials(): CredentialStore;
  readonly phone: PhoneControls;
  readonly contact: ContactControls;
  /** A number that is not on the network. */
  readonly unregisteredJid: Jid;
  /** How often a message with this id reached the network. */
  countDeliveries(id: MessageId): Promise<number>;
  /** The network deletes its stored files. */
  expireFiles(): Promise<void>;
  stop(): Promise<void>;
}

export interface DriverHarnessOptions {
  /** QR codes that expire after some tens of milliseconds. */
  shortQr?: boolean;
}
