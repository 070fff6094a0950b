import {
  type SignalDataSet,
  type SignalKeyStore,
  signedKeyPair,
  type WASocket,
  xmppSignedPreKey,
} from "baileys";
import { rawFieldsOf } from "../stanzas/raw-field.ts";
import type { BaileysCredentials } from "./baileys-credentials.ts";

type SignedPreKey = BaileysCredentials["signedPreKey"];

export interface SignedPreKeysOptions {
  keys: SignalKeyStore;
  creds: BaileysCredentials;
  /** Lifetime of a key. */
  rotationMs: number;
  onFailure(error: unknown): void;
}

const KIND = "signed-pre-key";
/** Previous keys, for messages under way: with a week for each, longer than the network keeps messages. */
const KEPT = 12;
const RETRY_MS = 3_600_000;

/**
 * The signed pre-key, with which other devices begin a conversation. Baileys 7.0.0-rc14 has a function that replaces it,
 * calls it nowhere, and would lose the messages under the previous key.
 */
export class SignedPreKeys {
  readonly #options: SignedPreKeysOptions;
  #sock: WASocket | undefined;
  #nextTryAt = 0;

  constructor(options: SignedPreKeysOptions) {
    this.#options = options;
  }

  /** A key that is not the current one: a previous one, or the next if the process died before it became current. */
  async find(id: number): Promise<SignedPreKey | undefined> {
    const get = this.#options.keys.get as unknown as (
      kind: string,
      ids: string[],
    ) => Promise<Record<string, SignedPreKey>>;
    return (await get(KIND, [String(id)]))[id];
  }

  /** The connection has logged in. */
  start(sock: WASocket): void {
    this.#sock = sock;
    this.rotateWhenDue();
  }

  /** Replaces a key that is too old. A failure changes nothing, and is repeated after an hour. */
  rotateWhenDue(): void {
    if (this.#sock) this.#rotateWhenDue(this.#sock).catch(this.#options.onFailure);
  }

  async #rotateWhenDue(sock: WASocket): Promise<void> {
    const { creds, rotationMs } = this.#options;
    const { signedPreKey } = creds;
    const { timestampS } = signedPreKey;
    const now = Date.now();
    // The time of the pairing is unknown, so the first login counts.
    if (timestampS === undefined)
      return this.#setCurrent(sock, { ...signedPreKey, timestampS: toSeconds(now) });
    if (now < this.#nextTryAt || now - timestampS * 1000 < rotationMs) return;
    this.#nextTryAt = now + RETRY_MS;
    const next = await this.#storeNext();
    await sock.query({
      tag: "iq",
      attrs: { to: "s.whatsapp.net", type: "set", xmlns: "encrypt" },
      content: [{ tag: "rotate", attrs: {}, content: [xmppSignedPreKey(next)] }],
    });
    this.#setCurrent(sock, { ...next, timestampS: toSeconds(now) });
  }

  /** Stores the next key before the network knows it, with the current one; each is used once, also after a kill. */
  async #storeNext(): Promise<SignedPreKey> {
    const { keys, creds } = this.#options;
    const { signedPreKey, signedIdentityKey } = creds;
    const { keyId } = signedPreKey;
    const next = (await this.find(keyId + 1)) ?? signedKeyPair(signedIdentityKey, keyId + 1);
    const stored = { [keyId]: signedPreKey, [keyId + 1]: next, [keyId - KEPT]: null };
    await keys.set({ [KIND]: stored } as unknown as SignalDataSet);
    return next;
  }

  #setCurrent(sock: WASocket, signedPreKey: SignedPreKey): void {
    sock.ev.emit("creds.update", { signedPreKey });
  }
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Field of a PreKeySignalMessage. */
const SIGNED_PRE_KEY_ID = 6;

/** The signed pre-key under which a first message is encrypted; undefined if the message is malformed. */
export function signedPreKeyIdOf(ciphertext: Uint8Array): number | undefined {
  // The first byte is the version.
  for (const { number, value } of rawFieldsOf(ciphertext.subarray(1))) {
    if (number === SIGNED_PRE_KEY_ID && typeof value === "number") return value;
  }
  return undefined;
}
