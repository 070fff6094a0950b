import { createPublicKey, verify } from "node:crypto";

const P = 2n ** 255n - 19n;
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let b = base % P;
  for (let e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * b) % P;
    b = (b * b) % P;
  }
  return result;
}

const fromLittleEndian = (raw: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(raw).reverse().toString("hex")}`);

const toLittleEndian = (n: bigint): Buffer =>
  Buffer.from(n.toString(16).padStart(64, "0"), "hex").reverse() as Buffer;

/** Verifies an XEdDSA signature, whose last bit is the sign of the Edwards point. */
export function verifySignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const u = fromLittleEndian(publicKey.length === 33 ? publicKey.subarray(1) : publicKey) % P;
  const y = ((((u - 1n) % P) + P) * power(u + 1n, P - 2n)) % P;
  const point = toLittleEndian(y);
  const sign = (signature[63] ?? 0) & 0x80;
  point[31] = (point[31] ?? 0) | sign;
  const plain = Buffer.from(signature);
  plain[63] = (plain[63] ?? 0) & 0x7f;
  const key = createPublicKey({ key: Buffer.concat([SPKI, point]), format: "der", type: "spki" });
  return verify(null, message, key, plain);
}
