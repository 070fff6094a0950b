import type { Connection } from "./connection.ts";
import type { RawNode } from "./control.ts";
import type { Network } from "./network.ts";
import type { BinaryNode } from "./nodes.ts";
import type { ClientHello } from "./noise.ts";
import { type Candidate, finishLink, link, offerRefs, parseQr, registrationOf } from "./pairing.ts";
import { CodePairings } from "./pairing-code.ts";
import type { Person } from "./person.ts";

/** The clients that want to be linked. */
export class Candidates {
  readonly #network: Network;
  readonly #byConnection = new Map<Connection, Candidate>();
  readonly #codes: CodePairings;

  constructor(network: Network) {
    this.#network = network;
    this.#codes = new CodePairings(network);
  }

  opened(connection: Connection, client: ClientHello): void {
    const registration = registrationOf(client);
    if (!registration) {
      connection.cut("no registration");
      return;
    }
    const candidate: Candidate = { connection, registration, refs: new Set() };
    this.#byConnection.set(connection, candidate);
    offerRefs(candidate);
  }

  closed(connection: Connection): void {
    const candidate = this.#byConnection.get(connection);
    this.#byConnection.delete(connection);
    if (candidate) this.#codes.closed(candidate);
    candidate?.signing?.refused(new Error("the client closed the connection before it had signed"));
  }

  scan(person: Person, qr: string, forge?: "hmac" | "signature"): Promise<number> {
    const { ref, noiseKey, identity, advSecret } = parseQr(qr);
    const candidate = [...this.#byConnection.values()].find((one) => one.refs.has(ref));
    if (!candidate) throw new Error("the QR is not valid any more");
    const { registration } = candidate;
    const same = (base64: string, raw: Uint8Array): boolean => Buffer.from(base64, "base64").equals(raw);
    if (!same(noiseKey, registration.noiseKey) || !same(identity, registration.identity)) {
      throw new Error("the QR shows other keys than those of the connection");
    }
    return link(this.#network, person, candidate, Buffer.from(advSecret, "base64"), forge);
  }

  enterCode(person: Person, code: string): Promise<number> {
    return this.#codes.enter(person, code);
  }

  async stanza(connection: Connection, stanza: BinaryNode): Promise<void> {
    const candidate = this.#byConnection.get(connection);
    if (!candidate) return;
    if (stanza.tag === "iq" && stanza.attrs.type === "result") {
      finishLink(this.#network, candidate, stanza);
      return;
    }
    await this.#codes.stanza(candidate, stanza);
  }

  push(stanza: RawNode): void {
    for (const connection of this.#byConnection.keys()) connection.send(stanza);
  }
}
