// libsignal 6.0.0 does not check the signature of the key that opens a Signal session.
// Not reported upstream.
import type { SignalRepository } from "baileys";
import { isSignatureValid } from "./fix-signature-verification.ts";

type PreKeyBundle = Parameters<SignalRepository["injectE2ESession"]>[0]["session"];

/** Whether the owner of the identity key has signed the key of this bundle. */
export function isPreKeySigned({ identityKey, signedPreKey }: PreKeyBundle): boolean {
  return isSignatureValid(identityKey, signedPreKey.publicKey, signedPreKey.signature);
}
