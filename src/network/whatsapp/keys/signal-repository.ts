import { DEFAULT_CONNECTION_CONFIG, type SignalDataSet, type SignalKeyStoreWithTransaction } from "baileys";
import { isDirectSend } from "../baileys-fixes/allow-concurrent-sends.ts";
import { decryptWithRollback } from "../baileys-fixes/decrypt-with-rollback.ts";
import { isSignatureValid } from "../baileys-fixes/fix-signature-verification.ts";
import type { InboundJournal } from "../inbound/inbound-journal.ts";
import { type CiphertextPosition, type JournalEntry, readMessage } from "../wire/journal-entry.ts";
import { authorOf } from "../wire/stanza.ts";
import type { IdentityStore } from "./identity-store.ts";
import { KeyedMutex } from "./keyed-mutex.ts";
import { JOURNAL_KEY_TYPE, type WriteBehindKeyStore } from "./write-behind-key-store.ts";

type MakeRepository = (typeof DEFAULT_CONNECTION_CONFIG)["makeSignalRepository"];
type Repository = ReturnType<MakeRepository>;
type Auth = Parameters<MakeRepository>[0];

/**
 * One queue per address for all sessions of the process, as in libsignal, which would run a queued job in the context of
 * another one. Held around its jobs only: nothing in there waits for a commit.
 */
const libsignalJobs = new KeyedMutex();

export interface SignalRepositoryOptions {
  store: WriteBehindKeyStore;
  inbox: InboundJournal;
  people: IdentityStore;
}

/**
 * The client library's cipher, turned round: what comes in is kept together with the ratchet before anybody is told of it,
 * and a ratchet of the way out is durable before its message reaches the wire.
 */
export function createSignalRepository({ store, inbox, people }: SignalRepositoryOptions): MakeRepository {
  return (auth, log, findLids) => {
    const keys = auth.keys as SignalKeyStoreWithTransaction;
    const make = (of: Auth) => DEFAULT_CONNECTION_CONFIG.makeSignalRepository(of, log, findLids);
    const inner = make(auth);
    const ahead = make({ creds: auth.creds, keys: writingAhead(keys, store) });
    const ratchets = new JournaledSignalRepository(inner, ahead, keys, store, inbox);
    waitBeforeWire(keys, store);
    return {
      ...inner,
      decryptMessage: (options) => ratchets.decryptMessage(options),
      decryptGroupMessage: (options) => ratchets.decryptGroupMessage(options),
      processSenderKeyDistributionMessage: (options) => ratchets.applySenderKey(options),
      encryptMessage(options) {
        const step = () => ahead.encryptMessage(options);
        const isWaitedFor = isDirectSend() && people.isMe(options.jid);
        return isWaitedFor ? ratchets.ofOwn(options.jid, step) : ratchets.ofPerson(options.jid, step);
      },
      encryptGroupMessage: (options) =>
        ratchets.ofGroup(options.group, () => ahead.encryptGroupMessage(options)),
      getSenderKeyDistributionMessage: (options) =>
        ratchets.ofGroup(options.group, () => ahead.getSenderKeyDistributionMessage(options)),
      async injectE2ESession(options) {
        if (!isPreKeySigned(options.session)) return;
        await ratchets.ofPerson(options.jid, () => ahead.injectE2ESession(options));
      },
      close() {
        inner.close?.();
        ahead.close?.();
      },
    };
  };
}

/** Ratchets are read from the store, because a transaction may hold an old one, and written at once. */
function writingAhead(
  keys: SignalKeyStoreWithTransaction,
  store: WriteBehindKeyStore,
): SignalKeyStoreWithTransaction {
  return {
    get: (kind, ids) =>
      kind === "session" || kind === "sender-key" ? store.get(kind, ids) : keys.get(kind, ids),
    async set(data) {
      store.setAhead(data);
      await keys.set(data);
    },
    isInTransaction: () => keys.isInTransaction(),
    transaction: (work) => work(),
  };
}

/**
 * A message to a person goes to our own devices too, and the client library seals one after the other for those, until
 * each is durable. So these alone are waited for later: here, between the last seal of such a message and the wire.
 */
function waitBeforeWire(keys: SignalKeyStoreWithTransaction, store: WriteBehindKeyStore): void {
  const { get } = keys;
  keys.get = async (kind, ids) => {
    if (kind === "tctoken") await store.written();
    return get(kind, ids);
  };
}

/**
 * The client library does not look at the signature under the key that opens a conversation. Without one there is no
 * conversation with that device, and the others of a group still get the message.
 */
function isPreKeySigned({
  identityKey,
  signedPreKey,
}: Parameters<Repository["injectE2ESession"]>[0]["session"]): boolean {
  return isSignatureValid(identityKey, signedPreKey.publicKey, signedPreKey.signature);
}

type Decrypt = () => Promise<Uint8Array>;

class JournaledSignalRepository {
  readonly #inner: Repository;
  readonly #ahead: Repository;
  readonly #keys: SignalKeyStoreWithTransaction;
  readonly #store: WriteBehindKeyStore;
  readonly #inbox: InboundJournal;
  /** Of what comes in held until the commit, since nobody sees its ratchet before. */
  readonly #locks = new KeyedMutex();

  constructor(
    inner: Repository,
    ahead: Repository,
    keys: SignalKeyStoreWithTransaction,
    store: WriteBehindKeyStore,
    inbox: InboundJournal,
  ) {
    this.#inner = inner;
    this.#ahead = ahead;
    this.#keys = keys;
    this.#store = store;
    this.#inbox = inbox;
  }

  async decryptMessage(options: Parameters<Repository["decryptMessage"]>[0]): Promise<Uint8Array> {
    const lock = await this.#addressOf(options.jid);
    const address = this.#inner.jidToSignalProtocolAddress(options.jid);
    const decrypt = () => libsignalJobs.run(address, () => this.#inner.decryptMessage(options));
    return this.#receive(options.ciphertext, lock, () =>
      options.type === "msg" ? decryptWithRollback(this.#keys, lock, decrypt) : decrypt(),
    );
  }

  decryptGroupMessage(options: Parameters<Repository["decryptGroupMessage"]>[0]): Promise<Uint8Array> {
    const lock = this.#senderLock(options.group, options.authorJid);
    return this.#receive(options.msg, lock, () => this.#inner.decryptGroupMessage(options));
  }

  async applySenderKey(
    options: Parameters<Repository["processSenderKeyDistributionMessage"]>[0],
  ): Promise<void> {
    const key = options.item.axolotlSenderKeyDistributionMessage ?? new Uint8Array();
    if (this.#inbox.takeApplied(key)) return;
    await this.#locks.run(this.#senderLock(options.item.groupId ?? "", options.authorJid), () =>
      this.#inner.processSenderKeyDistributionMessage(options),
    );
  }

  /** A step of the ratchet with one person, durable when it resolves. */
  async ofPerson<T>(jid: string, step: () => Promise<T>): Promise<T> {
    const address = this.#ahead.jidToSignalProtocolAddress(jid);
    return this.#stepOut(await this.#addressOf(jid), () => libsignalJobs.run(address, step));
  }

  /** A step of the ratchet with another device of our own, which `waitBeforeWire` waits for. */
  async ofOwn<T>(jid: string, step: () => Promise<T>): Promise<T> {
    const address = this.#ahead.jidToSignalProtocolAddress(jid);
    return this.#locks.run(await this.#addressOf(jid), () => libsignalJobs.run(address, step));
  }

  /** A step of our own key in a group, durable when it resolves. */
  ofGroup<T>(group: string, step: () => Promise<T>): Promise<T> {
    return this.#stepOut(group, step);
  }

  /** The next step builds on what the store shows already, which it keeps in this order: only the way out waits. */
  async #stepOut<T>(lock: string, step: () => Promise<T>): Promise<T> {
    const result = await this.#locks.run(lock, step);
    await this.#store.written();
    return result;
  }

  async #receive(ciphertext: Uint8Array, lock: string, decrypt: Decrypt): Promise<Uint8Array> {
    const known = this.#inbox.find(ciphertext);
    if (known) return known;
    const place = this.#inbox.placeOf(ciphertext);
    if (!place) throw new Error("A ciphertext without a stanza.");
    try {
      return await this.#locks.run(lock, () => this.#decryptAndKeep(place, lock, decrypt));
    } catch (error) {
      const kept = await this.#inbox.look(ciphertext);
      if (kept) return kept;
      throw error;
    }
  }

  async #decryptAndKeep(place: CiphertextPosition, lock: string, decrypt: Decrypt): Promise<Uint8Array> {
    let entry: JournalEntry | undefined;
    // Not the name that the client library would use for it: with that one a send to ourselves could wait for ever.
    const plaintext = await this.#keys.transaction(async () => {
      const opened = await decrypt();
      await this.#applyWithin(place, opened);
      const entered = this.#inbox.enter(place, opened);
      entry = entered.entry;
      await this.#keys.set({ [JOURNAL_KEY_TYPE]: entered.data } as SignalDataSet);
      return opened;
    }, `inbound ${lock}`);
    if (entry) this.#inbox.stored(entry);
    return plaintext;
  }

  /** In the commit of the message that brings it, so that it needs no replay of its own. */
  async #applyWithin({ stanza }: CiphertextPosition, plaintext: Uint8Array): Promise<void> {
    const item = readMessage(plaintext).senderKeyDistributionMessage;
    if (!item?.groupId) return;
    const authorJid = authorOf(stanza);
    await this.#locks.run(this.#senderLock(item.groupId, authorJid), () =>
      this.#inner.processSenderKeyDistributionMessage({ item, authorJid }),
    );
  }

  #senderLock(group: string, author: string): string {
    return `${group} ${this.#inner.jidToSignalProtocolAddress(author)}`;
  }

  /** The address under which the ratchet is kept: by LID as soon as that is known. */
  async #addressOf(jid: string): Promise<string> {
    const lid = await this.#inner.lidMapping.getLIDForPN(jid);
    return this.#inner.jidToSignalProtocolAddress(lid ?? jid);
  }
}
