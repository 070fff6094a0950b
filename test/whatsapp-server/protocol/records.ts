export interface SocketRecord {
  socket: number;
  opened_at: number;
  closed_at?: number;
  /** Digits; absent while unpaired. */
  phone?: string;
  device?: number;
  /** Of the client, such as `2.3000.1`. */
  version?: string;
  logged_in_at?: number;
  ready_at?: number;
  /** Why the server closed it; absent when the client did. */
  closed_by?: string;
}

/** A message stanza that a linked device sent. */
export interface MessageRecord {
  id: string;
  phone: string;
  device: number;
  to: string;
  type: string;
  /** With a token by which its recipient could report it; that of Baileys is wrong. */
  has_reporting: boolean;
  /** Proves that its recipient may get it. */
  token?: "tctoken" | "cstoken";
  at: number;
  ack: "ok" | "lost" | "cut" | number;
}

/** A ciphertext that a person's phone opened, or could not. */
export interface Decryption {
  by: string;
  from: string;
  id: string;
  chat: string;
  at: number;
  kind: string;
  text?: string;
  error?: string;
}

/** A message on its way to a linked device. */
export interface DeliveryRecord {
  id: string;
  phone: string;
  device: number;
  at: number;
  /** How often it was put on the wire, and how often of these after waiting. */
  sent: number;
  offline: number;
  retries: number;
  receipted_at?: number;
  receipt?: string;
  nacked?: number;
}

/** A receipt that a linked device gave. */
export interface GivenReceipt {
  phone: string;
  to: string;
  participant?: string;
  recipient?: string;
  type: string;
  ids: string[];
}

/** An acknowledgement that a linked device gave. */
export interface GivenAck {
  phone: string;
  class: string;
  id: string;
  to: string;
  participant?: string;
  type?: string;
  error?: string;
}

export interface Ledger {
  sockets: SocketRecord[];
  arrivals: MessageRecord[];
  decryptions: Decryption[];
  deliveries: DeliveryRecord[];
  receipts: GivenReceipt[];
  acks: GivenAck[];
}
