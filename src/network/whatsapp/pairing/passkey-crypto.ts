import {
  createCipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { bytesToCrockford, proto } from "baileys";

export const KEY_LENGTH = 32;
const CODE_BYTES = 5;
const IV_LENGTH = 12;
const HANDOFF_INFO = "shortcake-passkey-handoff-v1";
const PAIRING_INFO = "Pairing Information Encryption Key";

/** The platform that the registration names (DeviceProps of Baileys' browser description). */
export const DEVICE_TYPE = proto.DeviceProps.PlatformType.CHROME;

/** The companion's half of the key exchange, with the bytes that its commitment covers. */
export interface CompanionIdentity {
  readonly ref: string;
  readonly privateKey: KeyObject;
  readonly nonce: Buffer;
  /** The encoded ProloguePayload: identity and commitment. */
  readonly prologue: Buffer;
}

/** The phone's half of the key exchange. */
export interface PrimaryIdentity {
  readonly publicKey: Uint8Array;
  readonly nonce: Uint8Array;
}

/** The registration data that the phone receives once both halves are known. */
export interface RegistrationKeys {
  readonly noisePublic: Uint8Array;
  readonly identityPublic: Uint8Array;
}

/** The key that later proves that the secret of the scanned QR was ours. */
export function deriveHandoffKey(advSecret: Uint8Array): Buffer {
  return hkdf(advSecret, "", HANDOFF_INFO);
}

export function createCompanionIdentity(ref: string): CompanionIdentity {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const nonce = randomBytes(KEY_LENGTH);
  const identity = proto.CompanionEphemeralIdentity.encode({
    publicKey: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"),
    deviceType: DEVICE_TYPE,
    ref,
  }).finish();
  const hash = createHash("sha256").update(identity).update(nonce).digest();
  const prologue = proto.ProloguePayload.encode({
    companionEphemeralIdentity: identity,
    commitment: { hash },
  }).finish();
  return { ref, privateKey, nonce, prologue: Buffer.from(prologue) };
}

export function proveHandoff(handoffKey: Uint8Array, prologue: Uint8Array): Buffer {
  return createHmac("sha256", handoffKey).update(prologue).digest();
}

/** Undefined if a part is missing or is not 32 bytes long. */
export function readPrimaryIdentity(bytes: Uint8Array): PrimaryIdentity | undefined {
  try {
    const { publicKey, nonce } = proto.PrimaryEphemeralIdentity.decode(bytes);
    if (publicKey?.length !== KEY_LENGTH || nonce?.length !== KEY_LENGTH) return undefined;
    return { publicKey, nonce };
  } catch {
    return undefined;
  }
}

/** Eight characters, the same on the phone: a man in the middle cannot make both sides match. */
export function confirmationCode(companion: CompanionIdentity, primary: PrimaryIdentity): string {
  const hash = createHash("sha256").update(companion.nonce).update(primary.publicKey).digest();
  const code = Buffer.from(primary.nonce.subarray(0, CODE_BYTES)).map((byte, i) => byte ^ (hash[i] ?? 0));
  return bytesToCrockford(Buffer.from(code));
}

/** The encoded EncryptedPairingRequest. Throws if the phone's key is not on the curve. */
export function sealPairingRequest(
  companion: CompanionIdentity,
  primary: PrimaryIdentity,
  { noisePublic, identityPublic }: RegistrationKeys,
  advSecret: Uint8Array,
): Buffer {
  const request = proto.PairingRequest.encode({
    companionPublicKey: noisePublic,
    companionIdentityKey: identityPublic,
    advSecret,
  }).finish();
  const iv = randomBytes(IV_LENGTH);
  const cipher = createCipheriv("aes-256-gcm", pairingKey(companion, primary), iv);
  const encryptedPayload = Buffer.concat([cipher.update(request), cipher.final(), cipher.getAuthTag()]);
  return Buffer.from(proto.EncryptedPairingRequest.encode({ encryptedPayload, iv }).finish());
}

function pairingKey({ privateKey, ref }: CompanionIdentity, primary: PrimaryIdentity): Buffer {
  const shared = diffieHellman({ privateKey, publicKey: toPublicKey(primary.publicKey) });
  return hkdf(shared, `Companion Pairing ${DEVICE_TYPE} with ref ${ref}`, PAIRING_INFO);
}

function toPublicKey(raw: Uint8Array): KeyObject {
  const key = { kty: "OKP", crv: "X25519", x: Buffer.from(raw).toString("base64url") };
  return createPublicKey({ key, format: "jwk" });
}

function hkdf(secret: Uint8Array, salt: string, info: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, KEY_LENGTH));
}
