import type { ServerConnection } from "../connection.ts";
import type { Forgery, PasskeyDemand, RawNode, RefreshChild } from "../control.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import { type BinaryNode, child, node, SERVER, seconds } from "../protocol/nodes.ts";
import type { ClientHello } from "../protocol/noise.ts";
import {
  finishLink,
  link,
  type PairingCandidate,
  parseQr,
  refuseLink,
  registrationOf,
  sendRefs,
} from "./pairing.ts";
import { CodePairings } from "./pairing-code.ts";
import { PasskeyCeremonies } from "./passkey.ts";

/** Clients that want to be linked. */
export class Candidates {
  readonly #network: Network;
  readonly #byConnection = new Map<ServerConnection, PairingCandidate>();
  readonly #codes: CodePairings;
  readonly #stanzas: RawNode[] = [];
  #refreshes = 0;
  readonly #passkeys: PasskeyCeremonies;

  constructor(network: Network) {
    this.#network = network;
    this.#codes = new CodePairings(network, (person, candidate, advSecret) =>
      this.#consent(person, candidate, advSecret),
    );
    this.#passkeys = new PasskeyCeremonies(network, (person, candidate, advSecret) =>
      link(network, person, candidate, advSecret),
    );
  }

  opened(connection: ServerConnection, client: ClientHello): void {
    const registration = registrationOf(client);
    if (!registration) {
      connection.cut("no registration");
      return;
    }
    const candidate: PairingCandidate = { connection, registration, refs: new Set() };
    this.#byConnection.set(connection, candidate);
    sendRefs(candidate);
  }

  closed(connection: ServerConnection): void {
    const candidate = this.#byConnection.get(connection);
    this.#byConnection.delete(connection);
    if (candidate) this.#codes.closed(candidate);
    if (candidate) this.#passkeys.closed(candidate);
    candidate?.signing?.refused(new Error("the client closed the connection before it had signed"));
  }

  scan(person: ServerPerson, qr: string, forge?: Forgery): Promise<number> {
    const { candidate, advSecret } = this.#scanned(qr);
    return link(this.#network, person, candidate, advSecret, forge);
  }

  scanWithPasskey(person: ServerPerson, qr: string, demand: PasskeyDemand): Promise<number> {
    const { candidate, advSecret } = this.#scanned(qr);
    return this.#passkeys.begin(person, candidate, advSecret, demand);
  }

  /** The phone has received the client's keys through a code. */
  #consent(person: ServerPerson, candidate: PairingCandidate, advSecret: Buffer): Promise<number> {
    const demand = this.#network.faults.take("passkey_after_code", person.phone);
    return demand
      ? this.#passkeys.begin(person, candidate, advSecret, {})
      : link(this.#network, person, candidate, advSecret);
  }

  passkeyCode(person: ServerPerson): string | undefined {
    return this.#passkeys.codeOf(person);
  }

  #scanned(qr: string): { candidate: PairingCandidate; advSecret: Buffer } {
    const { ref, noiseKey, identity, advSecret } = parseQr(qr);
    const candidate = [...this.#byConnection.values()].find((one) => one.refs.has(ref));
    if (!candidate) throw new Error("the QR is not valid any more");
    const { registration } = candidate;
    const same = (base64: string, raw: Uint8Array): boolean => Buffer.from(base64, "base64").equals(raw);
    if (!same(noiseKey, registration.noiseKey) || !same(identity, registration.identity)) {
      throw new Error("the QR shows other keys than those of the connection");
    }
    return { candidate, advSecret: Buffer.from(advSecret, "base64") };
  }

  get codes(): CodePairings {
    return this.#codes;
  }

  /** Stanzas of unlinked clients, without content, but with the stage of a code pairing. */
  get stanzas(): readonly RawNode[] {
    return this.#stanzas;
  }

  /** Invalidates the secrets of all QR codes. Returns the notification id. */
  refresh(child: RefreshChild, id = `refresh-${++this.#refreshes}`): string {
    const content = child === "none" ? undefined : [node(child)];
    const attrs = { from: SERVER, id, type: "companion_reg_refresh", t: seconds() };
    for (const connection of this.#byConnection.keys()) connection.send(node("notification", attrs, content));
    return id;
  }

  expireReferences(): void {
    for (const { refs } of this.#byConnection.values()) refs.clear();
  }

  /** Ends the connections of unlinked clients. */
  end(): void {
    for (const connection of this.#byConnection.keys()) connection.cut();
  }

  async stanza(connection: ServerConnection, stanza: BinaryNode): Promise<void> {
    const candidate = this.#byConnection.get(connection);
    if (!candidate) return;
    const stage = child(stanza, "link_code_companion_reg")?.attrs.stage;
    this.#stanzas.push({ tag: stanza.tag, attrs: { ...stanza.attrs, ...(stage && { stage }) } });
    if (stanza.tag === "ack") return;
    if (stanza.tag === "iq" && stanza.attrs.type === "result") {
      finishLink(this.#network, candidate, stanza);
      return;
    }
    if (stanza.tag === "iq" && stanza.attrs.type === "error") return refuseLink(candidate, stanza);
    if (this.#passkeys.stanza(candidate, stanza)) return;
    await this.#codes.stanza(candidate, stanza);
  }

  push(stanza: RawNode): void {
    for (const connection of this.#byConnection.keys()) connection.send(stanza);
  }
}
