import { createRequire } from "node:module";
import { Curve, generateSignalPubKey, WA_CERT_DETAILS } from "baileys";
import { isLoopback } from "../files/media-hosts.ts";

interface LibsignalCurve {
  /** Answers whether it fits, and throws for what is no signature at all. */
  verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

// The very module that the client library loads; it is no dependency of ours.
const curve = createRequire(import.meta.resolve("baileys"))("libsignal/src/curve.js") as LibsignalCurve;

/** Whether a signature fits; false for anything that is none. */
export function isSignatureValid(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return curve.verifySignature(generateSignalPubKey(key), message, signature) === true;
  } catch {
    return false;
  }
}

/** As shipped, every signature of 64 bytes passes: the answer of libsignal is not looked at. */
export function fixSignatureVerification(): void {
  Curve.verify = isSignatureValid;
}

/** Another root (hex) for the certificates of the network, for test servers on this machine only. */
export function trustRootKey(url: string, rootKey: string): void {
  if (!isLoopback(new URL(url))) return;
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, "hex");
}
