import { createRequire } from "node:module";
import { Curve, generateSignalPubKey, WA_CERT_DETAILS } from "baileys";
import { isLoopback } from "../files/media-hosts.ts";

interface LibsignalCurve {
  /** Returns whether the signature is valid, and throws for malformed input. */
  verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

// The same module instance that Baileys loads; not a dependency of ours.
const curve = createRequire(import.meta.resolve("baileys"))("libsignal/src/curve.js") as LibsignalCurve;

/** Whether a signature is valid; false for malformed input. */
export function isSignatureValid(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return curve.verifySignature(generateSignalPubKey(key), message, signature) === true;
  } catch {
    return false;
  }
}

/** As shipped, every signature of 64 bytes passes: Baileys ignores libsignal's result. */
export function fixSignatureVerification(): void {
  Curve.verify = isSignatureValid;
}

/** Replaces the root (hex) of the network's certificates; for test servers on this machine only. */
export function trustRootKey(url: string, rootKey: string): void {
  if (!isLoopback(new URL(url))) return;
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, "hex");
}
