import { DEFAULT_CONNECTION_CONFIG, type SignalDataSet, type SignalKeyStoreWithTransaction } from "baileys";
import { currentSend, NobodyReachedError, reachesNobody } from "../baileys-fixes/allow-concurrent-sends.ts";
import { decryptWithRollback } from "../baileys-fixes/decrypt-with-rollback.ts";
import { isPreKeySigned } from "../baileys-fixes/is-pre-key-signed.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { type SignedPreKeys, signedPreKeyIdOf } from "../keys/signed-pre-keys.ts";
import { JOURNAL_KEY_TYPE, type WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";
import { KeyedMutex } from "../stanzas/keyed-mutex.ts";
import { authorOf } from "../stanzas/stanza.ts";
import type { InboundJournal, JournalDraft } from "./inbound-journal.ts";
import { type CiphertextPosition, readableOf, readMessage } from "./journal-entry.ts";

type MakeRepository = (typeof DEFAULT_CONNECTION_CONFIG)["makeSignalRepository"];
type Repository = ReturnType<MakeRepository>;
type Auth = Parameters<MakeRepository>[0];

/**
 * One queue per address for all sessions of the process, as in libsignal. libsignal's own queue would run a
 * job in the async context of another one. Jobs in here never wait for a commit.
 */
const libsignalJobs = new KeyedMutex();

export interface SignalRepositoryOptions {
  keyStore: WriteBehindKeyStore;
  journal: InboundJournal;
  identities: IdentityStore;
  signedPreKeys: SignedPreKeys;
}

/**
 * Replaces Baileys' Signal repository. Inbound: the message and its session state are stored together before
 * the message is reported. Outbound: the session state is durable before the message is sent.
 */
export function createSignalRepository({
  keyStore,
  journal,
  identities,
  signedPreKeys,
}: SignalRepositoryOptions): MakeRepository {
  return (auth, log, findLids) => {
    const keys = auth.keys as SignalKeyStoreWithTransaction;
    const make = (of: Auth) => DEFAULT_CONNECTION_CONFIG.makeSignalRepository(of, log, findLids);
    const inner = withOtherSignedPreKeys(make, auth, signedPreKeys);
    const ahead = make({ creds: auth.creds, keys: writingAhead(keys, keyStore) });
    const repository = new JournaledSignalRepository(inner, ahead, keys, keyStore, journal);
    waitBeforeWire(keys, keyStore, identities);
    return {
      ...inner,
      decryptMessage: (options) => repository.decryptMessage(options),
      decryptGroupMessage: (options) => repository.decryptGroupMessage(options),
      processSenderKeyDistributionMessage: (options) => repository.applySenderKey(options),
      async encryptMessage(options) {
        const step = () => ahead.encryptMessage(options);
        const send = currentSend();
        const isOwn = identities.isMe(options.jid);
        if (send && isOwn && !send.isGroup) return repository.ofOwn(options.jid, step);
        const encrypting = repository.ofPerson(options.jid, step);
        if (!send) return encrypting;
        const encrypted = await encrypting.catch((error) => {
          send.unreached.add(options.jid);
          send.hasFailed ||= !isOwn;
          throw error;
        });
        send.hasRecipient ||= !isOwn;
        return encrypted;
      },
      encryptGroupMessage: (options) =>
        repository.ofGroup(options.group, () => ahead.encryptGroupMessage(options)),
      getSenderKeyDistributionMessage: (options) =>
        repository.ofGroup(options.group, () => ahead.getSenderKeyDistributionMessage(options)),
      async injectE2ESession(options) {
        // No session is opened with that device; other members of the group still get the message.
        if (!isPreKeySigned(options.session)) return;
        await repository.ofPerson(options.jid, () => ahead.injectE2ESession(options));
      },
      close() {
        inner.close?.();
        ahead.close?.();
      },
    };
  };
}

/** Also opens first messages that were encrypted under another signed pre-key than the current one. */
function withOtherSignedPreKeys(
  make: (auth: Auth) => Repository,
  auth: Auth,
  signedPreKeys: SignedPreKeys,
): Repository {
  const inner = make(auth);
  return {
    ...inner,
    async decryptMessage(options) {
      const id = options.type === "pkmsg" ? signedPreKeyIdOf(options.ciphertext) : undefined;
      const isOther = id !== undefined && id !== auth.creds.signedPreKey.keyId;
      const value = isOther ? await signedPreKeys.find(id) : undefined;
      if (!value) return inner.decryptMessage(options);
      const creds = Object.create(auth.creds, { signedPreKey: { value } });
      const repository = make({ creds, keys: auth.keys });
      return repository.decryptMessage(options).finally(() => repository.close?.());
    },
  };
}

/** Reads session state from the store, because a transaction may hold an older one, and writes it at once. */
function writingAhead(
  keys: SignalKeyStoreWithTransaction,
  store: WriteBehindKeyStore,
): SignalKeyStoreWithTransaction {
  return {
    get: (kind, ids) =>
      kind === "session" || kind === "sender-key" ? store.get(kind, ids) : keys.get(kind, ids),
    async set(data) {
      store.writeAhead(data);
      await keys.set(data);
    },
    isInTransaction: () => keys.isInTransaction(),
    transaction: (work) => work(),
  };
}

/**
 * A direct message also goes to our own devices, and Baileys encrypts for those one by one, each until it is
 * durable. These writes are awaited only here, between the last encryption and the network. Throws
 * NobodyReachedError for a message that only our own devices could read.
 */
function waitBeforeWire(
  keys: SignalKeyStoreWithTransaction,
  store: WriteBehindKeyStore,
  identities: IdentityStore,
): void {
  const { get, set } = keys;
  keys.get = async (kind, ids) => {
    const send = currentSend();
    if (kind === "tctoken") {
      const isDirect = send && !send.isGroup;
      if (isDirect && !send.hasRecipient && !identities.isMe(send.to)) throw new NobodyReachedError();
      await store.whenDurable();
    }
    const found = await get(kind, ids);
    if (kind === GROUP_MEMORY && send?.isGroup) {
      const devices = Object.keys(found[send.to] ?? {});
      send.hasRecipient ||= devices.some((jid) => !identities.isMe(jid));
      if (send.unreached.size > 0) return withHolders(found, send.to, send.unreached);
    }
    return found;
  };
  keys.set = async (data) => {
    const send = currentSend();
    // Baileys remembers all devices of the group as holders of its key, also those for which this failed.
    if (data[GROUP_MEMORY] && send && reachesNobody(send)) throw new NobodyReachedError();
    await set(data);
  };
}

/** Which devices have our key of a group. */
const GROUP_MEMORY = "sender-key-memory";

/** A device that has no key yet, and cannot get it, asks for it once it can. */
function withHolders<Found>(found: Found, group: string, devices: Iterable<string>): Found {
  const known = (found as Record<string, object | undefined>)[group];
  const added = Object.fromEntries([...devices].map((jid) => [jid, true]));
  return { ...found, [group]: { ...known, ...added } };
}

type Decrypt = () => Promise<Uint8Array>;

class JournaledSignalRepository {
  readonly #inner: Repository;
  readonly #ahead: Repository;
  readonly #keys: SignalKeyStoreWithTransaction;
  readonly #store: WriteBehindKeyStore;
  readonly #inbox: InboundJournal;
  /** Inbound locks are held until the commit, because the new session state is visible only afterwards. */
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
    if (this.#inbox.consumeAppliedSenderKey(key)) return;
    await this.#locks.run(this.#senderLock(options.item.groupId ?? "", options.authorJid), () =>
      this.#inner.processSenderKeyDistributionMessage(options),
    );
  }

  /** One step of the Signal session with a person, durable when it resolves. */
  async ofPerson<T>(jid: string, step: () => Promise<T>): Promise<T> {
    const address = this.#ahead.jidToSignalProtocolAddress(jid);
    return this.#stepOut(await this.#addressOf(jid), () => libsignalJobs.run(address, step));
  }

  /** One step of the Signal session with another own device, which `waitBeforeWire` waits for. */
  async ofOwn<T>(jid: string, step: () => Promise<T>): Promise<T> {
    const address = this.#ahead.jidToSignalProtocolAddress(jid);
    return this.#locks.run(await this.#addressOf(jid), () => libsignalJobs.run(address, step));
  }

  /** One step of our own sender key in a group, durable when it resolves. */
  ofGroup<T>(group: string, step: () => Promise<T>): Promise<T> {
    return this.#stepOut(group, step);
  }

  /** The store shows a write at once and commits in order, so the next step can start; only the send waits. */
  async #stepOut<T>(lock: string, step: () => Promise<T>): Promise<T> {
    const result = await this.#locks.run(lock, step);
    await this.#store.whenDurable();
    return result;
  }

  async #receive(ciphertext: Uint8Array, lock: string, decrypt: Decrypt): Promise<Uint8Array> {
    const known = this.#inbox.find(ciphertext);
    if (known) return known;
    const position = this.#inbox.positionOf(ciphertext);
    if (!position) throw new Error("A ciphertext without a stanza.");
    try {
      return await this.#locks.run(lock, () => this.#decryptAndStore(position, lock, decrypt));
    } catch (error) {
      const stored = await this.#inbox.findOrLoad(ciphertext);
      if (stored) return stored;
      throw error;
    }
  }

  async #decryptAndStore(position: CiphertextPosition, lock: string, decrypt: Decrypt): Promise<Uint8Array> {
    let draft: JournalDraft | undefined;
    try {
      // Not the lock name that Baileys uses: with that one, a send to ourselves could wait forever.
      const plaintext = await this.#keys.transaction(async () => {
        const opened = await decrypt();
        await this.#applyWithin(position, opened);
        draft = await this.#inbox.draft(position, opened);
        const data = { [draft.entry.id]: draft.write };
        await this.#keys.set({ [JOURNAL_KEY_TYPE]: data } as SignalDataSet);
        return opened;
      }, `inbound ${lock}`);
      if (draft) this.#inbox.markStored(draft);
      return draft ? readableOf(draft.entry) : plaintext;
    } finally {
      draft?.release();
    }
  }

  /** Runs in the commit of the message that carries the sender key, so that it needs no replay of its own. */
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

  /** The address of the stored Signal session: the LID as soon as it is known. */
  async #addressOf(jid: string): Promise<string> {
    const lid = await this.#inner.lidMapping.getLIDForPN(jid);
    return this.#inner.jidToSignalProtocolAddress(lid ?? jid);
  }
}
