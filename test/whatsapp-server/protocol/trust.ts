import { readFileSync } from "node:fs";
import tls from "node:tls";
import { Curve, WA_CERT_DETAILS } from "baileys";
import { verifySignature } from "./xeddsa.ts";

interface NativeContext {
  context: { addCACert(pem: string): void };
}

/**
 * Makes all TLS of this process trust another authority, like NODE_EXTRA_CA_CERTS. Returns a function that reverts
 * it.
 */
export function trustCertificates(caFile: string): () => void {
  const pem = readFileSync(caFile, "utf8");
  const before = tls.createSecureContext;
  tls.createSecureContext = (options) => {
    const made = before(options);
    (made as unknown as NativeContext).context.addCACert(pem);
    return made;
  };
  return () => {
    tls.createSecureContext = before;
  };
}

/** Makes Baileys in this process trust a server's Noise certificate. */
export function trustRoot(rootKeyHex: string): void {
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKeyHex, "hex");
}

/** Baileys as published accepts every signature of 64 bytes. */
export function hardenSignatures(): void {
  Curve.verify = (key, message, signature) => verifySignature(key, message, signature);
}
