import { createHmac } from "node:crypto";
import type { Jid } from "../../driver.ts";
import type { BaileysCredentials } from "./baileys-credentials.ts";

const LEAST_SALT_BYTES = 16;
const MOST_SALT_BYTES = 128;

/** What the network and the phone have said about the account of a pairing; stored with its credentials. */
export class AccountFacts {
  readonly #creds: BaileysCredentials;
  readonly #onChange: () => void;

  /** `onChange`: the credentials must be stored. */
  constructor(creds: BaileysCredentials, onChange: () => void) {
    this.#creds = creds;
    this.#onChange = onChange;
  }

  /** Whether direct messages of the account go to LIDs instead of phone numbers. */
  get isLidMigrated(): boolean {
    return this.#creds.isLidMigrated === true;
  }

  /** There is no way back: the network migrates an account once. */
  latchLidMigrated(): void {
    if (this.isLidMigrated) return;
    this.#creds.isLidMigrated = true;
    this.#onChange();
  }

  /** Whether own edits go out encrypted under the secret of their message. */
  get areEditsEncrypted(): boolean {
    return this.#creds.areEditsEncrypted === true;
  }

  setEditsEncrypted(isOn: boolean): void {
    if (this.areEditsEncrypted === isOn) return;
    this.#creds.areEditsEncrypted = isOn;
    this.#onChange();
  }

  /** A history that arrives late does not undo what a setting has said since. */
  setContactTokenSaltOfHistory(salt: Uint8Array): void {
    if (!this.#creds.isContactTokenSaltOfSettings) this.#setContactTokenSalt(salt);
  }

  /** Undefined deletes the salt. */
  setContactTokenSaltOfSettings(salt: Uint8Array | undefined): void {
    this.#creds.isContactTokenSaltOfSettings ||= isPossible(salt);
    this.#setContactTokenSalt(salt);
  }

  /** Ignores a salt of an impossible length. */
  #setContactTokenSalt(salt: Uint8Array | undefined): void {
    if (!isPossible(salt)) return;
    if (salt) this.#creds.contactTokenSalt = Buffer.from(salt);
    else delete this.#creds.contactTokenSalt;
    this.#onChange();
  }

  /** Proves to the network that a first message to this person is no spam; undefined without a salt. */
  contactTokenFor(lid: Jid): Buffer | undefined {
    const { contactTokenSalt: salt } = this.#creds;
    return salt && createHmac("sha256", salt).update(lid).digest();
  }
}

function isPossible({ length }: Pick<Uint8Array, "length"> = { length: LEAST_SALT_BYTES }): boolean {
  return length >= LEAST_SALT_BYTES && length <= MOST_SALT_BYTES;
}
