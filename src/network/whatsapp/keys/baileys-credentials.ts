import { type AuthenticationCreds, BufferJSON, initAuthCreds, proto } from "baileys";

/** The identity of a pairing as Baileys stores it, and what is known of its account. */
export interface BaileysCredentials extends AuthenticationCreds {
  /** Direct messages of the account go to LIDs, not to phone numbers. Once true, it stays. */
  isLidMigrated?: boolean;
  /** Edits go out encrypted, as the account's property says. */
  areEditsEncrypted?: boolean;
  /** The base of the tokens with which a first message to a person is trusted; 16 to 128 bytes. */
  contactTokenSalt?: Uint8Array;
  /** The shared settings have set or removed the salt, so that no older history does. */
  isContactTokenSaltOfSettings?: boolean;
}

export function createBaileysCredentials(): BaileysCredentials {
  return initAuthCreds();
}

export function serializeCredentials(creds: BaileysCredentials): Uint8Array {
  return Buffer.from(JSON.stringify(creds, BufferJSON.replacer));
}

export function parseCredentials(bytes: Uint8Array): BaileysCredentials {
  const creds = JSON.parse(Buffer.from(bytes).toString(), BufferJSON.reviver) as BaileysCredentials;
  if (creds.account) creds.account = proto.ADVSignedDeviceIdentity.fromObject(creds.account);
  return creds;
}
