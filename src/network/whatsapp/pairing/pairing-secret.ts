import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { CredentialStore } from "../../driver.ts";
import {
  type BaileysCredentials,
  createBaileysCredentials,
  parseCredentials,
  serializeCredentials,
} from "../keys/baileys-credentials.ts";

export interface PairingSecretOptions {
  store: Pick<CredentialStore, "loadRegistration" | "saveRegistration">;
  /** Delay before a failed write is retried. */
  retryMs: number;
  /** Stops the retries. */
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

interface StoredRegistration {
  creds: BaileysCredentials;
  /** The secret must be rotated before it is shown again. */
  rotation_due: boolean;
}

const SECRET_LENGTH = 32;

/**
 * The ADV secret of a registration, which authenticates the phone's consent. Every change is durable before
 * it takes effect; concurrent changes run sequentially.
 */
export class PairingSecret {
  /** The registration, whose `advSecretKey` is the current secret in base64. */
  readonly creds: BaileysCredentials;
  readonly #options: PairingSecretOptions;
  readonly #end = new AbortController();
  readonly #signal: AbortSignal;
  #isRotationDue: boolean;
  #changes: Promise<void> = Promise.resolve();

  private constructor(options: PairingSecretOptions, { creds, rotation_due }: StoredRegistration) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#end.signal]);
    this.creds = creds;
    this.#isRotationDue = rotation_due;
  }

  /** Loads the current registration, or stores a new one first. Rejects if the store fails. */
  static async open(options: PairingSecretOptions): Promise<PairingSecret> {
    const { store } = options;
    const stored = read(await store.loadRegistration());
    if (stored && !stored.rotation_due) return new PairingSecret(options, stored);
    const creds = stored?.creds ?? createBaileysCredentials();
    const created = {
      creds: { ...creds, advSecretKey: newSecret().toString("base64") },
      rotation_due: false,
    };
    await store.saveRegistration(write(created));
    return new PairingSecret(options, created);
  }

  get current(): Buffer {
    return Buffer.from(this.creds.advSecretKey, "base64");
  }

  /** Resolves once a new random secret is stored. Rejects if the pairing ends first. */
  rotate(): Promise<void> {
    return this.replace(newSecret());
  }

  /** Like `rotate`, with a secret agreed with the phone. */
  replace(secret: Uint8Array): Promise<void> {
    if (secret.length !== SECRET_LENGTH) throw new Error("A pairing secret has 32 bytes.");
    return this.#change(Buffer.from(secret).toString("base64"), false);
  }

  /** Keeps the secret for a consent that may be in flight; the next registration begins with a rotation. */
  postponeRotation(): Promise<void> {
    return this.#change(this.creds.advSecretKey, true);
  }

  /** Runs a postponed rotation. */
  async rotateIfDue(): Promise<void> {
    await this.#changes;
    if (this.#isRotationDue) await this.rotate();
  }

  /** Stops all writes: later reads return the stored state. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#changes;
  }

  #change(advSecretKey: string, rotation_due: boolean): Promise<void> {
    const change = this.#changes.then(async () => {
      await this.#save({ creds: { ...this.creds, advSecretKey }, rotation_due });
      this.creds.advSecretKey = advSecretKey;
      this.#isRotationDue = rotation_due;
    });
    this.#changes = change.catch(() => {});
    return change;
  }

  async #save(registration: StoredRegistration): Promise<void> {
    const { store, retryMs, onFailure } = this.#options;
    const signal = this.#signal;
    const bytes = write(registration);
    while (!signal.aborted) {
      try {
        return await store.saveRegistration(bytes);
      } catch (error) {
        onFailure(error);
        await pause(retryMs, undefined, { signal }).catch(() => {});
      }
    }
    throw new Error("The pairing has ended.");
  }
}

function newSecret(): Buffer {
  return randomBytes(SECRET_LENGTH);
}

function write({ creds, rotation_due }: StoredRegistration): Uint8Array {
  const encoded = Buffer.from(serializeCredentials(creds)).toString("base64");
  return Buffer.from(JSON.stringify({ creds: encoded, rotation_due }));
}

/** Undefined if there is none or it is unreadable: a new one replaces it. */
function read(bytes: Uint8Array | undefined): StoredRegistration | undefined {
  if (!bytes) return undefined;
  try {
    const { creds, rotation_due } = JSON.parse(Buffer.from(bytes).toString());
    return { creds: parseCredentials(Buffer.from(creds, "base64")), rotation_due: rotation_due === true };
  } catch {
    return undefined;
  }
}
