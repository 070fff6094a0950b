import { createCipheriv, createDecipheriv, hkdfSync, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { bytesToCrockford, Curve, type KeyPair } from "baileys";

const CODE_BYTES = 5;
const ROUNDS = 131_072;
const KEY_LENGTH = 32;
const SALT_LENGTH = 32;
const CTR_IV_LENGTH = 16;
const GCM_IV_LENGTH = 12;
const BUNDLE_INFO = "link_code_pairing_key_bundle_encryption_key";
const SECRET_INFO = "adv_secret";

/** Salt, IV and an encrypted X25519 key. */
export const WRAPPED_KEY_LENGTH = SALT_LENGTH + CTR_IV_LENGTH + KEY_LENGTH;

const stretch = promisify(pbkdf2);

/** Eight characters of WhatsApp's alphabet, which omits similar ones. */
export function generatePairingCode(): string {
  return bytesToCrockford(randomBytes(CODE_BYTES));
}

/** Encrypts a public key with a code, so that only a holder of the code can respond. */
export async function wrapKey(publicKey: Uint8Array, code: string): Promise<Buffer> {
  const salt = randomBytes(SALT_LENGTH);
  const iv = randomBytes(CTR_IV_LENGTH);
  const cipher = createCipheriv("aes-256-ctr", await keyOf(code, salt), iv);
  return Buffer.concat([salt, iv, cipher.update(publicKey), cipher.final()]);
}

/** `wrapped` has WRAPPED_KEY_LENGTH bytes. A wrong code yields a wrong key, without an error. */
export async function unwrapKey(wrapped: Buffer, code: string): Promise<Buffer> {
  const salt = wrapped.subarray(0, SALT_LENGTH);
  const iv = wrapped.subarray(SALT_LENGTH, SALT_LENGTH + CTR_IV_LENGTH);
  const decipher = createDecipheriv("aes-256-ctr", await keyOf(code, salt), iv);
  return Buffer.concat([decipher.update(wrapped.subarray(SALT_LENGTH + CTR_IV_LENGTH)), decipher.final()]);
}

export interface PairingCodeKeys {
  /** Generated for this code. */
  ephemeral: KeyPair;
  identity: KeyPair;
  phoneEphemeral: Uint8Array;
  phoneIdentity: Uint8Array;
}

/**
 * The encrypted bundle for the phone, and the pairing secret that both sides derive from it. Throws for an
 * invalid key.
 */
export function derivePairingSecret({ ephemeral, identity, phoneEphemeral, phoneIdentity }: PairingCodeKeys) {
  const shared = Curve.sharedKey(ephemeral.private, phoneEphemeral);
  const sharedIdentity = Curve.sharedKey(identity.private, phoneIdentity);
  const random = randomBytes(KEY_LENGTH);
  const secret = hkdfSync(
    "sha256",
    Buffer.concat([shared, sharedIdentity, random]),
    "",
    SECRET_INFO,
    KEY_LENGTH,
  );
  const bundle = sealBundle(shared, Buffer.concat([identity.public, phoneIdentity, random]));
  return { bundle, secret: Buffer.from(secret) };
}

function sealBundle(shared: Uint8Array, plain: Uint8Array): Buffer {
  const salt = randomBytes(SALT_LENGTH);
  const iv = randomBytes(GCM_IV_LENGTH);
  const key = Buffer.from(hkdfSync("sha256", shared, salt, BUNDLE_INFO, KEY_LENGTH));
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  return Buffer.concat([salt, iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function keyOf(code: string, salt: Uint8Array): Promise<Buffer> {
  return stretch(code, salt, ROUNDS, KEY_LENGTH, "sha256");
}
