export interface SocketRecord {
  socket: number;
  opened_at: number;
  closed_at?: number;
  /** Digits; undefined while unpaired. */
  phone?: string;
  device?: number;
  /** Client version, such as `2.3000.1`. */
  version?: string;
  logged_in_at?: number;
  ready_at?: number;
  /** Why the server closed it; undefined if the client did. */
  closed_by?: string;
}

/** A message stanza of a linked device. */
export interface MessageRecord {
  id: string;
  phone: string;
  device: number;
  to: string;
  type: string;
  /** Has a reporting token. Baileys' tokens are invalid. */
  has_reporting: boolean;
  /** The kinds of file that its ciphertexts name. */
  media_types: string[];
  /** What it says to the network itself. */
  meta: Record<string, string>;
  /** Proves that the recipient accepts messages. */
  token?: "tctoken" | "cstoken";
  at: number;
  ack: "ok" | "lost" | "cut" | number;
}

/** A person's phone decrypted a ciphertext, or failed. */
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

/** A message for a linked device. */
export interface DeliveryRecord {
  id: string;
  phone: string;
  device: number;
  at: number;
  /** How often it was sent, and how often of these from the offline queue. */
  sent: number;
  offline: number;
  retries: number;
  receipted_at?: number;
  receipt?: string;
  nacked?: number;
}

/** A receipt from a linked device. */
export interface GivenReceipt {
  phone: string;
  to: string;
  participant?: string;
  recipient?: string;
  type: string;
  ids: string[];
}

/** An ack from a linked device. */
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
