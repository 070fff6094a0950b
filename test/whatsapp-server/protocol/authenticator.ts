import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, verify } from "node:crypto";

export interface SignedAssertion {
  id: string;
  rawId: string;
  type: "public-key";
  authenticatorAttachment: string;
  clientExtensionResults: Record<string, unknown>;
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle: string };
}

const PRESENT_AND_VERIFIED = 0x05;

/** A browser's passkey operations on web.whatsapp.com, as `toJSON` of its credential. */
export class Authenticator {
  readonly #id = randomBytes(20);
  readonly #userHandle = randomBytes(16);
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  #counter = 0;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#publicKey = publicKey;
    this.#privateKey = privateKey;
  }

  sign(options: Record<string, unknown>, origin = "https://web.whatsapp.com"): SignedAssertion {
    const { challenge, rpId } = options as { challenge: string; rpId?: string };
    const clientData = Buffer.from(
      JSON.stringify({ type: "webauthn.get", challenge, origin, crossOrigin: false }),
    );
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(++this.#counter);
    const authenticatorData = Buffer.concat([
      sha256(Buffer.from(rpId ?? "web.whatsapp.com")),
      Buffer.from([PRESENT_AND_VERIFIED]),
      counter,
    ]);
    const signature = sign(
      "sha256",
      Buffer.concat([authenticatorData, sha256(clientData)]),
      this.#privateKey,
    );
    const id = this.#id.toString("base64url");
    return {
      id,
      rawId: id,
      type: "public-key",
      authenticatorAttachment: "platform",
      clientExtensionResults: { uvm: [] },
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authenticatorData.toString("base64url"),
        signature: signature.toString("base64url"),
        userHandle: this.#userHandle.toString("base64url"),
      },
    };
  }

  /** The network's checks: exact fields, this passkey, this challenge. Undefined if valid. */
  faultOf(text: string, credentialId: Buffer, challenge: string): string | undefined {
    const { response, ...rest } = JSON.parse(text) as SignedAssertion;
    if (Object.keys(rest).join() !== "id,rawId,type") return "other fields than id, rawId, type, response";
    if (Object.keys(response).join() !== "clientDataJSON,authenticatorData,signature,userHandle")
      return "other fields in the response";
    if (!credentialId.equals(this.#id) || rest.rawId !== this.#id.toString("base64url"))
      return "another passkey";
    const clientData = Buffer.from(response.clientDataJSON, "base64url");
    if (JSON.parse(clientData.toString()).challenge !== challenge) return "another challenge";
    const signed = Buffer.concat([Buffer.from(response.authenticatorData, "base64url"), sha256(clientData)]);
    const isSigned = verify("sha256", signed, this.#publicKey, Buffer.from(response.signature, "base64url"));
    return isSigned ? undefined : "a wrong signature";
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
