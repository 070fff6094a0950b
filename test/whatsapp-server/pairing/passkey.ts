import { createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { Curve, type KeyPair, proto } from "baileys";
import type { PasskeyDemand } from "../control.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import {
  type BinaryNode,
  bytes,
  child,
  childBytes,
  failure,
  node,
  result,
  SERVER,
  seconds,
} from "../protocol/nodes.ts";
import type { PairingCandidate } from "./pairing.ts";

/** State of phone and network in one ceremony. */
interface Ceremony {
  readonly person: ServerPerson;
  readonly candidate: PairingCandidate;
  readonly demand: PasskeyDemand;
  readonly options: Record<string, unknown>;
  readonly handoffKey: Buffer;
  readonly refusals: number[];
  readonly primary: KeyPair;
  readonly primaryNonce: Buffer;
  ref?: string;
  identity?: Buffer;
  commitment?: Buffer;
  nonce?: Buffer;
  isProved?: boolean;
  linked(device: Promise<number>): void;
  refused(error: Error): void;
}

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTVWXYZ";
const CHROME = proto.DeviceProps.PlatformType.CHROME;

/** Links a client with the secret that it gave to the phone. */
export type PasskeyLink = (
  person: ServerPerson,
  candidate: PairingCandidate,
  advSecret: Buffer,
) => Promise<number>;

/** Accounts that require a passkey to link a client. */
export class PasskeyCeremonies {
  readonly #network: Network;
  readonly #link: PasskeyLink;
  readonly #byCandidate = new Map<PairingCandidate, Ceremony>();

  constructor(network: Network, link: PasskeyLink) {
    this.#network = network;
    this.#link = link;
  }

  /** `advSecret` is that of the scanned QR code. Resolves with the device once the client has signed. */
  begin(
    person: ServerPerson,
    candidate: PairingCandidate,
    advSecret: Buffer,
    demand: PasskeyDemand,
  ): Promise<number> {
    const options = {
      challenge: randomBytes(32).toString("base64url"),
      timeout: demand.timeout ?? 600_000,
      rpId: "whatsapp.com",
      allowCredentials: [],
      userVerification: "required",
      extensions: { uvm: true },
    };
    return new Promise<number>((linked, refused) => {
      const ceremony: Ceremony = {
        person,
        candidate,
        demand,
        options,
        linked,
        refused,
        handoffKey: hkdf(advSecret, "", "shortcake-passkey-handoff-v1"),
        refusals: [...(demand.refusals ?? [])],
        primary: Curve.generateKeyPair(),
        primaryNonce: randomBytes(32),
      };
      this.#byCandidate.set(candidate, ceremony);
      this.ask(candidate);
    });
  }

  /** Sends the notification, repeated under the same id until it is acknowledged. */
  ask(candidate: PairingCandidate): void {
    const ceremony = this.#byCandidate.get(candidate);
    if (!ceremony) return;
    const { demand, options } = ceremony;
    const how = demand.options ?? "sent";
    const text = how === "broken" ? '{"challenge":' : JSON.stringify(options);
    const content = how === "absent" || how === "never" ? [] : [leaf("passkey_request_options", text)];
    this.#notify(ceremony, "passkey_prologue_request", content);
  }

  closed(candidate: PairingCandidate): void {
    this.#byCandidate.get(candidate)?.refused(new Error("the client closed the connection"));
    this.#byCandidate.delete(candidate);
  }

  /** Code on the phone for comparison. */
  codeOf(person: ServerPerson): string | undefined {
    const found = [...this.#byCandidate.values()].find((one) => one.person === person);
    if (!found?.nonce) return undefined;
    const digest = createHash("sha256")
      .update(Buffer.concat([found.nonce, Buffer.from(found.primary.public)]))
      .digest();
    let bits = "";
    for (let i = 0; i < 5; i++) {
      const byte = (found.primaryNonce[i] ?? 0) ^ (digest[i] ?? 0);
      bits += byte.toString(2).padStart(8, "0");
    }
    const code = (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join("");
    return `${code.slice(0, 4)}-${code.slice(4)}`;
  }

  /** Returns whether the stanza belongs to a ceremony. */
  stanza(candidate: PairingCandidate, stanza: BinaryNode): boolean {
    const ceremony = this.#byCandidate.get(candidate);
    if (!ceremony) return false;
    const { attrs, content } = stanza;
    const tag = Array.isArray(content) ? content[0]?.tag : undefined;
    if (stanza.tag !== "iq" || attrs.xmlns !== "md" || tag === undefined) return false;
    const response = this.#respond(ceremony, stanza, tag);
    if (!response) return false;
    candidate.connection.send(response);
    if (response.attrs.type === "result") this.#afterwards(ceremony, tag);
    return true;
  }

  #respond(ceremony: Ceremony, iq: BinaryNode, tag: string): BinaryNode | undefined {
    switch (`${iq.attrs.type} ${tag}`) {
      case "get passkey_request_options":
        return ceremony.demand.options === "never"
          ? failure(iq, 404, "item-not-found")
          : result(iq, [leaf(tag, JSON.stringify(ceremony.options))]);
      case "get ref":
        ceremony.ref = `ref-${randomBytes(8).toString("hex")}`;
        return result(iq, [leaf("ref", ceremony.ref)]);
      case "set passkey_prologue":
        return this.#resultOf(iq, prologueFault(ceremony, child(iq, tag) as BinaryNode));
      case "set companion_nonce":
        return this.#resultOf(iq, nonceFault(ceremony, childBytes(iq, tag)));
      case "set encrypted_pairing_request":
        return this.#resultOf(iq, this.#requestFault(ceremony, childBytes(iq, tag)));
      default:
        return undefined;
    }
  }

  #resultOf(iq: BinaryNode, fault: string | number | undefined): BinaryNode {
    if (fault === undefined) return result(iq);
    if (typeof fault === "number") return failure(iq, fault, "ordered");
    this.#network.book.unhandled.push(`passkey: ${fault}`);
    return failure(iq, 400, fault);
  }

  #afterwards(ceremony: Ceremony, tag: string): void {
    if (tag !== "passkey_prologue") return;
    const { demand, primary, primaryNonce } = ceremony;
    const how = demand.response ?? "right";
    if (how === "cut") ceremony.candidate.connection.cut("in the middle of a ceremony");
    if (how === "never" || how === "cut") return;
    const key = how === "weak_key" ? Buffer.alloc(32) : Buffer.from(primary.public);
    const identity = proto.PrimaryEphemeralIdentity.encode({
      publicKey: how === "short_key" ? key.subarray(1) : key,
      nonce: how === "long_nonce" ? Buffer.concat([primaryNonce, Buffer.alloc(1)]) : primaryNonce,
    }).finish();
    const content = [leaf("primary_ephemeral_identity", Buffer.from(identity))];
    this.#notify(ceremony, "crsc_continuation", content);
    if (how === "twice") this.#notify(ceremony, "crsc_continuation", content);
  }

  /** Decrypts the client's pairing request and links with its secret. */
  #requestFault(ceremony: Ceremony, sealed: Buffer): string | undefined {
    const { primary, identity, ref, candidate, person } = ceremony;
    if (!identity || !ceremony.nonce) return "a pairing request before its nonce";
    const { publicKey, deviceType } = proto.CompanionEphemeralIdentity.decode(identity);
    const shared = Curve.sharedKey(primary.private, publicKey as Uint8Array);
    const salt = `Companion Pairing ${deviceType} with ref ${ref}`;
    const key = hkdf(shared, salt, "Pairing Information Encryption Key");
    const opened = open(key, sealed);
    if (!opened) return "a pairing request under another key";
    const { companionPublicKey, companionIdentityKey, advSecret } = proto.PairingRequest.decode(opened);
    const { registration } = candidate;
    if (!registration.noiseKey.equals(companionPublicKey ?? Buffer.alloc(0))) return "another noise key";
    if (!Buffer.from(registration.identity).equals(companionIdentityKey ?? Buffer.alloc(0)))
      return "another identity";
    if (advSecret?.length !== 32) return "a secret of another length";
    setImmediate(() => ceremony.linked(this.#link(person, candidate, Buffer.from(advSecret))));
    return undefined;
  }

  #notify({ candidate }: Ceremony, type: string, content: BinaryNode[]): void {
    const id = `${type}-${candidate.connection.record.socket}`;
    candidate.connection.send(node("notification", { from: SERVER, id, type, t: seconds() }, content));
  }
}

/** The requested refusal code, or the error. */
function prologueFault(ceremony: Ceremony, prologue: BinaryNode): string | number | undefined {
  const { person, handoffKey, options, ref, refusals } = ceremony;
  const assertion = childBytes(prologue, "webauthn_assertion").toString();
  const fault = person.passkey.faultOf(
    assertion,
    childBytes(prologue, "credential_id"),
    String(options.challenge),
  );
  if (fault) return fault;
  const ordered = refusals.shift();
  if (ordered !== undefined) return ordered;
  const payload = childBytes(prologue, "prologue_payload");
  const { companionEphemeralIdentity, commitment } = proto.ProloguePayload.decode(payload);
  const identity = Buffer.from(companionEphemeralIdentity ?? []);
  const shown = proto.CompanionEphemeralIdentity.decode(identity);
  if (shown.ref !== ref) return "another ref";
  if (shown.deviceType !== CHROME || shown.publicKey?.length !== 32) return "no ephemeral identity";
  ceremony.identity = identity;
  ceremony.commitment = Buffer.from(commitment?.hash ?? []);
  const proof = child(prologue, "pairing_handoff_proof");
  ceremony.isProved = proof !== undefined;
  const expected = createHmac("sha256", handoffKey).update(payload).digest();
  return proof && !expected.equals(bytes(proof)) ? "a wrong handoff proof" : undefined;
}

function nonceFault(ceremony: Ceremony, nonce: Buffer): string | undefined {
  const { identity, commitment } = ceremony;
  if (!identity || !commitment) return "a nonce before its commitment";
  const hash = createHash("sha256")
    .update(Buffer.concat([identity, nonce]))
    .digest();
  if (nonce.length !== 32 || !hash.equals(commitment)) return "a nonce that does not open the commitment";
  ceremony.nonce = nonce;
  return undefined;
}

function open(key: Buffer, sealed: Buffer): Buffer | undefined {
  const { encryptedPayload, iv } = proto.EncryptedPairingRequest.decode(sealed);
  if (!encryptedPayload || iv?.length !== 12 || encryptedPayload.length < 16) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, iv);
  decipher.setAuthTag(encryptedPayload.subarray(-16));
  try {
    return Buffer.concat([decipher.update(encryptedPayload.subarray(0, -16)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function leaf(tag: string, content: string | Buffer): BinaryNode {
  return node(tag, {}, Buffer.from(content));
}

function hkdf(secret: Uint8Array, salt: string, info: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, 32));
}
