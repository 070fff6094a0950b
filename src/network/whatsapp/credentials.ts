import { type AuthenticationCreds, BufferJSON, initAuthCreds, proto } from "baileys";

/** The identity of a pairing as the client library keeps it. */
export type Credentials = AuthenticationCreds;

export function newCredentials(): Credentials {
  return initAuthCreds();
}

export function writeCredentials(creds: Credentials): Uint8Array {
  return Buffer.from(JSON.stringify(creds, BufferJSON.replacer));
}

export function readCredentials(bytes: Uint8Array): Credentials {
  const creds = JSON.parse(Buffer.from(bytes).toString(), BufferJSON.reviver) as Credentials;
  if (creds.account) creds.account = proto.ADVSignedDeviceIdentity.fromObject(creds.account);
  return creds;
}
