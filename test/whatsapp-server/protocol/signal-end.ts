import { randomBytes } from "node:crypto";
import {
  type AuthenticationCreds,
  BufferJSON,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  initAuthCreds,
  type KeyPair,
  type proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStoreWithTransaction,
} from "baileys";
import { decryptWithRollback } from "../../../src/network/whatsapp/baileys-fixes/decrypt-with-rollback.ts";
import { quietLog } from "./silence-log.ts";

/** A device's prekey bundle. */
export interface Bundle {
  registrationId: number;
  identity: Uint8Array;
  signedPreKey: { id: number; value: Uint8Array; signature: Uint8Array };
  preKey?: { id: number; value: Uint8Array };
}

export interface Sealed {
  type: "pkmsg" | "msg";
  ciphertext: Uint8Array;
}

const signalKey = (raw: Uint8Array): Uint8Array =>
  raw.length === 33 ? raw : Buffer.concat([Buffer.from([5]), raw]);

/** Keys in memory. A transaction only runs the work, because a phone serializes its work. */
class MemoryKeys implements SignalKeyStoreWithTransaction {
  readonly #stored = new Map<string, unknown>();

  async get<Type extends keyof SignalDataTypeMap>(
    type: Type,
    ids: string[],
  ): Promise<Record<string, SignalDataTypeMap[Type]>> {
    const found: Record<string, SignalDataTypeMap[Type]> = {};
    for (const id of ids) {
      const value = this.#stored.get(`${type} ${id}`);
      if (value === undefined) continue;
      found[id] = (type === "sender-key" ? repaired(value as Uint8Array) : value) as SignalDataTypeMap[Type];
    }
    return found;
  }

  async set(data: SignalDataSet): Promise<void> {
    for (const [type, values] of Object.entries(data)) {
      for (const [id, value] of Object.entries(values ?? {})) {
        if (value === null) this.#stored.delete(`${type} ${id}`);
        else this.#stored.set(`${type} ${id}`, value);
      }
    }
  }

  isInTransaction(): boolean {
    return true;
  }

  transaction<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }
}

/** Baileys stores skipped sender keys without their type and cannot read them back. */
const repaired = (raw: Uint8Array): Uint8Array =>
  Buffer.from(JSON.stringify(JSON.parse(Buffer.from(raw).toString("utf8")), BufferJSON.replacer));

/** Signal sessions of one phone, by `signalAddress`. */
export class SignalEnd {
  readonly creds: AuthenticationCreds;
  readonly #keys = new MemoryKeys();
  readonly #repository;
  #nextPreKey = 1;

  constructor(identity: KeyPair) {
    const creds = initAuthCreds();
    const signedPreKey = Curve.generateKeyPair();
    const signature = Curve.sign(identity.private, signalKey(signedPreKey.public));
    this.creds = {
      ...creds,
      signedIdentityKey: identity,
      signedPreKey: { keyPair: signedPreKey, signature, keyId: 1 },
    };
    this.#repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
      { creds: this.creds, keys: this.#keys },
      quietLog,
      async () => [],
    );
  }

  async bundle(): Promise<Bundle> {
    const id = this.#nextPreKey++;
    const pair = Curve.generateKeyPair();
    await this.#keys.set({ "pre-key": { [id]: pair } });
    const { signedPreKey, registrationId, signedIdentityKey } = this.creds;
    return {
      registrationId,
      identity: signedIdentityKey.public,
      signedPreKey: {
        id: signedPreKey.keyId,
        value: signedPreKey.keyPair.public,
        signature: signedPreKey.signature,
      },
      preKey: { id, value: pair.public },
    };
  }

  async knows(address: string): Promise<boolean> {
    return (await this.#repository.validateSession(address)).exists;
  }

  /** Starts a new session and keeps earlier ones, whose messages may still arrive. */
  async meet(address: string, bundle: Bundle): Promise<void> {
    const { signedPreKey, preKey } = bundle;
    await this.#repository.injectE2ESession({
      jid: address,
      session: {
        registrationId: bundle.registrationId,
        identityKey: signalKey(bundle.identity),
        signedPreKey: {
          keyId: signedPreKey.id,
          publicKey: signalKey(signedPreKey.value),
          signature: signedPreKey.signature,
        },
        ...(preKey && { preKey: { keyId: preKey.id, publicKey: signalKey(preKey.value) } }),
      },
    });
  }

  seal(address: string, data: Uint8Array): Promise<Sealed> {
    return this.#repository.encryptMessage({ jid: address, data });
  }

  /** Unlike Baileys, a phone leaves sessions unchanged that a message does not belong to. */
  open(address: string, { type, ciphertext }: Sealed): Promise<Uint8Array> {
    const decrypt = () => this.#repository.decryptMessage({ jid: address, type, ciphertext });
    if (type === "pkmsg") return decrypt();
    return decryptWithRollback(this.#keys, this.#repository.jidToSignalProtocolAddress(address), decrypt);
  }

  /** The group ciphertext, and the sender key for devices that lack it. */
  async sealForGroup(
    group: string,
    me: string,
    data: Uint8Array,
  ): Promise<{ text: Uint8Array; key: Uint8Array }> {
    const sealed = await this.#repository.encryptGroupMessage({ group, meId: me, data });
    return { text: sealed.ciphertext, key: sealed.senderKeyDistributionMessage };
  }

  groupKey(group: string, me: string): Promise<Uint8Array> {
    return this.#repository.getSenderKeyDistributionMessage({ group, meId: me });
  }

  learnGroupKey(author: string, item: proto.Message.ISenderKeyDistributionMessage): Promise<void> {
    return this.#repository.processSenderKeyDistributionMessage({ authorJid: author, item });
  }

  openForGroup(group: string, author: string, msg: Uint8Array): Promise<Uint8Array> {
    return this.#repository.decryptGroupMessage({ group, authorJid: author, msg });
  }
}

/** A fake address: libsignal queues by address within the process, which may contain clients too. */
export const signalAddress = (lid: string, device: number): string =>
  `s${lid}${device === 0 ? "" : `:${device}`}@lid`;

export const newMessageId = (): string => `3A${randomBytes(9).toString("hex").toUpperCase()}`;
