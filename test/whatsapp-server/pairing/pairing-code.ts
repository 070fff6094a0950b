import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { Curve, derivePairingCodeKey, type KeyPair } from "baileys";
import { describe } from "../client-message.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import { type BinaryNode, bytes, child, failure, node, result, SERVER, seconds } from "../protocol/nodes.ts";
import type { PairingCandidate } from "./pairing.ts";
import type { PasskeyLink } from "./passkey.ts";

interface Attempt {
  candidate: PairingCandidate;
  ref: string;
  /** Salt, IV and the client's ephemeral key, encrypted with the code. */
  wrapped: Buffer;
  entered?: Entered;
  /** Gives the delayed consent. */
  consent?: () => Promise<number>;
}

interface Entered {
  person: ServerPerson;
  ephemeral: KeyPair;
  theirs: Buffer;
  done: (device: Promise<number>) => void;
  refused: (error: Error) => void;
}

const PATIENCE_MS = 2000;
const BUNDLE = "link_code_pairing_key_bundle_encryption_key";

/** Pairing with a code that is typed into the phone. */
export class CodePairings {
  readonly #network: Network;
  readonly #consent: PasskeyLink;
  /** By the digits of the phone. */
  readonly #attempts = new Map<string, Attempt>();

  constructor(network: Network, consent: PasskeyLink) {
    this.#network = network;
    this.#consent = consent;
  }

  closed(candidate: PairingCandidate): void {
    for (const [phone, attempt] of this.#attempts) {
      if (attempt.candidate === candidate) this.#attempts.delete(phone);
    }
  }

  async stanza(candidate: PairingCandidate, stanza: BinaryNode): Promise<void> {
    const reg = child(stanza, "link_code_companion_reg");
    const quiet = stanza.tag === "presence" || stanza.tag === "ib";
    if (quiet) return;
    if (stanza.attrs.xmlns === "w:p") return candidate.connection.send(result(stanza));
    if (reg?.attrs.stage === "companion_hello") return this.#hello(candidate, stanza, reg);
    if (reg?.attrs.stage === "companion_finish") return this.#finish(candidate, stanza, reg);
    this.#network.book.unhandled.push(describe(stanza));
  }

  /** Types the code, which proves the client's keys. */
  async enter(person: ServerPerson, code: string, otherRef?: string): Promise<number> {
    const attempt = await this.#awaited(person.phone);
    const { wrapped, candidate, ref } = attempt;
    const theirs = ctr(
      await derivePairingCodeKey(code, wrapped.subarray(0, 32)),
      wrapped.subarray(32, 48),
      wrapped.subarray(48),
    );
    const ephemeral = Curve.generateKeyPair();
    const salt = randomBytes(32);
    const iv = randomBytes(16);
    const mine = ctr(await derivePairingCodeKey(code, salt), iv, Buffer.from(ephemeral.public));
    const entered = new Promise<number>((done, refused) => {
      attempt.entered = { person, ephemeral, theirs, done, refused };
    });
    notify(candidate, { stage: "primary_hello" }, otherRef ?? ref, [
      node("link_code_pairing_wrapped_primary_ephemeral_pub", {}, Buffer.concat([salt, iv, mine])),
      node("primary_identity_pub", {}, Buffer.from(person.identity.public)),
    ]);
    return entered;
  }

  find(phone: string): { ref: string } {
    const { ref } = this.#attempt(phone);
    return { ref };
  }

  refresh(phone: string, { manual, ref }: { manual?: boolean; ref?: string }): void {
    const attempt = this.#attempt(phone);
    const attrs = { stage: "refresh_code", force_manual_refresh: manual ? "true" : undefined };
    notify(attempt.candidate, attrs, ref ?? attempt.ref);
  }

  giveConsent(phone: string): Promise<number> {
    const { consent } = this.#attempt(phone);
    if (!consent) throw new Error(`no consent of ${phone} is held up`);
    return consent();
  }

  #attempt(phone: string): Attempt {
    const attempt = this.#attempts.get(phone);
    if (!attempt) throw new Error(`nobody asks to link with ${phone}`);
    return attempt;
  }

  /** A client shows its code before the network has received it; a person types more slowly. */
  async #awaited(phone: string): Promise<Attempt> {
    for (let waited = 0; waited < PATIENCE_MS; waited += 10) {
      const attempt = this.#attempts.get(phone);
      if (attempt) return attempt;
      await new Promise((done) => setTimeout(done, 10));
    }
    throw new Error(`nobody asks to link with ${phone}`);
  }

  async #hello(candidate: PairingCandidate, iq: BinaryNode, reg: BinaryNode): Promise<void> {
    const phone = (reg.attrs.jid ?? "").split("@")[0] ?? "";
    const { faults } = this.#network;
    const refusal = faults.take("code_refused", phone) ?? refusalOf(reg);
    if (refusal) return candidate.connection.send(failure(iq, refusal.code, refusal.text));
    const ref = `ref-${randomBytes(8).toString("hex")}`;
    const wrapped = bytes(child(reg, "link_code_pairing_wrapped_companion_ephemeral_pub"));
    const accept = () => {
      this.#attempts.set(phone, { candidate, ref, wrapped });
      candidate.connection.send(
        result(iq, [
          node("link_code_companion_reg", { stage: "companion_hello" }, [
            node("link_code_pairing_ref", {}, Buffer.from(ref)),
          ]),
        ]),
      );
    };
    const delay = faults.take("code_delayed", phone)?.ms;
    if (delay === undefined) accept();
    else setTimeout(accept, delay);
  }

  #finish(candidate: PairingCandidate, iq: BinaryNode, reg: BinaryNode): void {
    const ref = bytes(child(reg, "link_code_pairing_ref")).toString();
    const attempt = [...this.#attempts.values()].find((one) => one.ref === ref);
    const entered = attempt?.entered;
    if (!entered) {
      this.#network.book.unhandled.push(describe(iq));
      return;
    }
    const { phone } = entered.person;
    const refusal = this.#network.faults.take("finish_refused", phone);
    if (refusal) {
      candidate.connection.send(failure(iq, refusal.code, refusal.text));
      entered.refused(new Error("the network refused the last step"));
      return;
    }
    try {
      const advSecret = advSecretOf(
        candidate,
        entered,
        bytes(child(reg, "link_code_pairing_wrapped_key_bundle")),
      );
      candidate.connection.send(result(iq));
      const consent = () => {
        const linking = this.#consent(entered.person, candidate, advSecret);
        entered.done(linking);
        return linking;
      };
      if (this.#network.faults.take("consent_held", phone)) attempt.consent = consent;
      else consent();
    } catch {
      candidate.connection.send(failure(iq, 400, "bad-request"));
      entered.refused(new Error("the code is wrong"));
    }
  }
}

function notify(
  { connection }: PairingCandidate,
  attrs: Record<string, string | undefined>,
  ref: string,
  content: BinaryNode[] = [],
): void {
  const id = `code-${randomBytes(4).toString("hex")}`;
  connection.send(
    node("notification", { from: SERVER, id, type: "link_code_companion_reg", t: seconds() }, [
      node("link_code_companion_reg", attrs, [
        ...content,
        node("link_code_pairing_ref", {}, Buffer.from(ref)),
      ]),
    ]),
  );
}

/** The network accepts only known browsers and systems. */
function refusalOf(reg: BinaryNode): { code: number; text: string } | undefined {
  const display = bytes(child(reg, "companion_platform_display")).toString();
  const id = bytes(child(reg, "companion_platform_id")).toString();
  if (DISPLAYS.test(display) && /^[1-9]$/.test(id)) return undefined;
  return { code: 400, text: "bad-request" };
}

const DISPLAYS = /^(Chrome|Edge|Firefox|Opera|Safari) \((Windows|Mac OS|Linux|Android|iOS)\)$/;

/** Decrypts the client's secret with the keys from the code. Throws after a wrong code. */
function advSecretOf(
  candidate: PairingCandidate,
  { person, ephemeral, theirs }: Entered,
  wrapped: Buffer,
): Buffer {
  const shared = Curve.sharedKey(ephemeral.private, theirs);
  const bundle = openBundle(shared, wrapped);
  const identity = bundle.subarray(0, 32);
  const mine = bundle.subarray(32, 64);
  if (!identity.equals(candidate.registration.identity) || !mine.equals(person.identity.public)) {
    throw new Error("the key bundle does not hold the identities");
  }
  const agreed = Curve.sharedKey(person.identity.private, identity);
  const secret = Buffer.concat([shared, agreed, bundle.subarray(64, 96)]);
  return Buffer.from(hkdfSync("sha256", secret, "", "adv_secret", 32));
}

function ctr(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-ctr", key, iv);
  return Buffer.concat([cipher.update(data), cipher.final()]);
}

function openBundle(shared: Uint8Array, wrapped: Buffer): Buffer {
  const key = Buffer.from(hkdfSync("sha256", shared, wrapped.subarray(0, 32), BUNDLE, 32));
  const sealed = wrapped.subarray(44);
  const decipher = createDecipheriv("aes-256-gcm", key, wrapped.subarray(32, 44));
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
}
