// Baileys 7.0.0-rc14 accepts every signature of 64 bytes: `Curve.verify` ignores libsignal's result.
// Upstream: a review of https://github.com/WhiskeySockets/Baileys/pull/2067 (open) describes it.
import { createRequire } from "node:module";
import { Curve, generateSignalPubKey } from "baileys";

interface LibsignalCurve {
  /** Returns whether the signature is valid, and throws for malformed input. */
  verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

// The same module instance that Baileys loads.
const curve = createRequire(import.meta.url)("libsignal/src/curve.js") as LibsignalCurve;

/** Whether a signature is valid; false for malformed input. */
export function isSignatureValid(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return curve.verifySignature(generateSignalPubKey(key), message, signature) === true;
  } catch {
    return false;
  }
}

/** Makes Baileys use the result. */
export function fixSignatureVerification(): void {
  Curve.verify = isSignatureValid;
}
