import { type AuthenticationCreds, BufferJSON, initAuthCreds, proto } from "baileys";

/** The identity of a pairing as Baileys stores it. */
export type BaileysCredentials = AuthenticationCreds;

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
