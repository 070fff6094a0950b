import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { Curve, type KeyPair, proto } from "baileys";

const MODE = Buffer.from("Noise_XX_25519_AESGCM_SHA256\0\0\0\0");
const INTRO = Buffer.from([0x57, 0x41, 6, 3]);
const NOTHING = Buffer.alloc(0);

/** The server's static key with its certificate chain. */
export interface NoiseIdentity {
  staticKey: KeyPair;
  chain: Uint8Array;
}

export interface NoiseRoot {
  publicKey: Uint8Array;
  identity: NoiseIdentity;
}

export function makeNoiseRoot(): NoiseRoot {
  const root = Curve.generateKeyPair();
  const middle = Curve.generateKeyPair();
  const staticKey = Curve.generateKeyPair();
  const certify = (serial: number, key: KeyPair, issuerSerial: number, issuer: KeyPair) => {
    const details = proto.CertChain.NoiseCertificate.Details.encode({
      serial,
      issuerSerial,
      key: key.public,
    }).finish();
    return { details, signature: Curve.sign(issuer.private, details) };
  };
  const chain = proto.CertChain.encode({
    intermediate: certify(1, middle, 0, root),
    leaf: certify(2, staticKey, 1, middle),
  }).finish();
  return { publicKey: root.public, identity: { staticKey, chain } };
}

const iv = (counter: number): Buffer => {
  const raw = Buffer.alloc(12);
  raw.writeUInt32BE(counter, 8);
  return raw;
};

function seal(key: Buffer, counter: number, plain: Uint8Array, aad: Buffer): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, iv(counter));
  cipher.setAAD(aad);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, counter: number, sealed: Uint8Array, aad: Buffer): Buffer {
  const raw = Buffer.from(sealed);
  const decipher = createDecipheriv("aes-256-gcm", key, iv(counter));
  decipher.setAAD(aad);
  decipher.setAuthTag(raw.subarray(-16));
  return Buffer.concat([decipher.update(raw.subarray(0, -16)), decipher.final()]);
}

/** The client that the handshake authenticated. */
export interface ClientHello {
  staticKey: Buffer;
  payload: proto.ClientPayload;
}

/** The server side of a Noise XX connection: handshake, then frames. */
export class NoiseServer {
  readonly #identity: NoiseIdentity;
  readonly #ephemeral = Curve.generateKeyPair();
  #buffer: Buffer = NOTHING;
  #introduced = false;
  #hash: Buffer = MODE;
  #salt: Buffer = MODE;
  #key: Buffer = MODE;
  #counter = 0;
  #readKey: Buffer = NOTHING;
  #writeKey: Buffer = NOTHING;
  #read = 0;
  #written = 0;
  /** Set after the handshake. */
  client: ClientHello | undefined;
  #sentHello = false;

  constructor(identity: NoiseIdentity) {
    this.#identity = identity;
  }

  /** Reads bytes. Returns complete frames in `plain` and bytes to send at once in `reply`. */
  feed(data: Buffer): { plain: Buffer[]; reply: Buffer[] } {
    this.#buffer = this.#buffer.length === 0 ? data : Buffer.concat([this.#buffer, data]);
    const out: { plain: Buffer[]; reply: Buffer[] } = { plain: [], reply: [] };
    if (!this.#introduced && !this.#readIntro()) return out;
    for (let frame = this.#readFrame(); frame; frame = this.#readFrame()) {
      if (this.client) out.plain.push(open(this.#readKey, this.#read++, frame, NOTHING));
      else if (this.#sentHello) this.#finish(frame);
      else out.reply.push(this.#greet(frame));
    }
    return out;
  }

  frame(plain: Uint8Array): Buffer {
    return withLength(seal(this.#writeKey, this.#written++, plain, NOTHING));
  }

  #readIntro(): boolean {
    let at = 0;
    if (this.#buffer.length < 7) return false;
    if (this.#buffer.toString("latin1", 0, 2) === "ED") at = 7 + this.#buffer.readUIntBE(4, 3);
    if (this.#buffer.length < at + 4) return false;
    if (!this.#buffer.subarray(at, at + 4).equals(INTRO)) throw new Error("not the WhatsApp intro");
    this.#buffer = this.#buffer.subarray(at + 4);
    this.#introduced = true;
    this.#mixHash(INTRO);
    return true;
  }

  #readFrame(): Buffer | undefined {
    if (this.#buffer.length < 3) return undefined;
    const size = this.#buffer.readUIntBE(0, 3);
    if (this.#buffer.length < size + 3) return undefined;
    const frame = this.#buffer.subarray(3, size + 3);
    this.#buffer = this.#buffer.subarray(size + 3);
    return frame;
  }

  #greet(frame: Buffer): Buffer {
    const theirs = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral;
    if (!theirs) throw new Error("no client hello");
    this.#mixHash(theirs);
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, theirs));
    const encryptedStatic = this.#encrypt(this.#identity.staticKey.public);
    this.#mixKey(Curve.sharedKey(this.#identity.staticKey.private, theirs));
    const payload = this.#encrypt(this.#identity.chain);
    this.#sentHello = true;
    const serverHello = { ephemeral: this.#ephemeral.public, static: encryptedStatic, payload };
    return withLength(proto.HandshakeMessage.encode({ serverHello }).finish());
  }

  #finish(frame: Buffer): void {
    const finish = proto.HandshakeMessage.decode(frame).clientFinish;
    if (!finish?.static || !finish.payload) throw new Error("no client finish");
    const staticKey = this.#decrypt(finish.static);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, staticKey));
    const payload = proto.ClientPayload.decode(this.#decrypt(finish.payload));
    [this.#readKey, this.#writeKey] = this.#expand(NOTHING);
    this.client = { staticKey, payload };
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  #expand(material: Uint8Array): [Buffer, Buffer] {
    const out = Buffer.from(hkdfSync("sha256", material, this.#salt, "", 64));
    return [out.subarray(0, 32), out.subarray(32)];
  }

  #mixKey(material: Uint8Array): void {
    [this.#salt, this.#key] = this.#expand(material);
    this.#counter = 0;
  }

  #encrypt(plain: Uint8Array): Buffer {
    const sealed = seal(this.#key, this.#counter++, plain, this.#hash);
    this.#mixHash(sealed);
    return sealed;
  }

  #decrypt(sealed: Uint8Array): Buffer {
    const plain = open(this.#key, this.#counter++, sealed, this.#hash);
    this.#mixHash(sealed);
    return plain;
  }
}

function withLength(frame: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(frame.length + 3);
  out.writeUIntBE(frame.length, 0, 3);
  out.set(frame, 3);
  return out;
}
