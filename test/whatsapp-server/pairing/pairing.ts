import { createHmac, randomBytes } from "node:crypto";
import { Curve, proto } from "baileys";
import { Companion, type Registration } from "../companion.ts";
import { type ServerConnection, streamError } from "../connection.ts";
import type { Forgery } from "../control.ts";
import { notifyOfDevice } from "../device-notifications.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import { type BinaryNode, bytes, child, node, SERVER } from "../protocol/nodes.ts";
import type { ClientHello } from "../protocol/noise.ts";
import { verifySignature } from "../protocol/xeddsa.ts";

const REFS = 6;
const ACCOUNT = Buffer.from([6, 0]);
const DEVICE = Buffer.from([6, 1]);

/** A client that wants to be linked. */
export interface PairingCandidate {
  connection: ServerConnection;
  registration: Registration;
  refs: Set<string>;
  /** Set while the pairing waits for the client's signature. */
  signing?: {
    companion: Companion;
    id: string;
    details: Uint8Array;
    signed: () => void;
    refused: (error: Error) => void;
  };
}

export function registrationOf({ staticKey, payload }: ClientHello): Registration | undefined {
  const data = payload.devicePairingData;
  if (!data?.eIdent || !data.eSkeyVal || !data.eSkeySig || !data.eRegid || !data.eSkeyId) return undefined;
  return {
    noiseKey: staticKey,
    registrationId: Buffer.from(data.eRegid).readUIntBE(0, data.eRegid.length),
    identity: data.eIdent,
    signedPreKey: {
      id: Buffer.from(data.eSkeyId).readUIntBE(0, data.eSkeyId.length),
      value: data.eSkeyVal,
      signature: data.eSkeySig,
    },
    name: proto.DeviceProps.decode(data.deviceProps ?? new Uint8Array()).os ?? "",
  };
}

/** Sends the QR references to a client. */
export function sendRefs(candidate: PairingCandidate): void {
  const refs = Array.from({ length: REFS }, () => `2@${randomBytes(24).toString("base64url")}`);
  for (const ref of refs) candidate.refs.add(ref);
  candidate.connection.send(
    node("iq", { from: SERVER, type: "set", id: `pair-${candidate.connection.record.socket}`, xmlns: "md" }, [
      node(
        "pair-device",
        {},
        refs.map((ref) => node("ref", {}, Buffer.from(ref))),
      ),
    ]),
  );
}

export interface QrParts {
  ref: string;
  noiseKey: string;
  identity: string;
  advSecret: string;
}

/** Parses a QR code in the old and the link format. */
export function parseQr(qr: string): QrParts {
  const text = qr.includes("#") ? qr.slice(qr.indexOf("#") + 1) : qr;
  const [ref, noiseKey, identity, advSecret] = text.split(",");
  if (!ref || !noiseKey || !identity || !advSecret) throw new Error("not a WhatsApp QR");
  return { ref, noiseKey, identity, advSecret };
}

/** The phone signs a client's identity. Resolves with the device number once the client has signed. */
export function link(
  network: Network,
  person: ServerPerson,
  candidate: PairingCandidate,
  advSecret: Buffer,
  forge?: Forgery,
): Promise<number> {
  const number = person.nextDevice();
  const companion = new Companion(person, number, candidate.registration, network.book);
  const details = proto.ADVDeviceIdentity.encode({
    rawId: candidate.registration.registrationId,
    timestamp: Math.floor(Date.now() / 1000),
    keyIndex: number,
  }).finish();
  const identity = signedIdentity(person, candidate, details, advSecret, forge);
  const id = `success-${candidate.connection.record.socket}`;
  const signed = new Promise<number>((done, refused) => {
    candidate.signing = { companion, id, details, signed: () => done(number), refused };
  });
  candidate.connection.send(
    node("iq", { from: SERVER, type: "set", id, xmlns: "md" }, [
      node("pair-success", {}, [
        node("device-identity", {}, Buffer.from(identity)),
        node("platform", { name: "android" }),
        ...clientProps(person, forge),
        node("device", { jid: person.jid("pn", number), lid: person.jid("lid", number) }),
      ]),
    ]),
  );
  return signed;
}

/** Account properties from the phone. */
function clientProps({ announces }: ServerPerson, forge?: Forgery): BinaryNode[] {
  if (forge === "props") return [node("client-props", {}, Buffer.from([0x08, 0xff, 0xff, 0x7f, 0x0f]))];
  const props = proto.ClientPairingProps.encode({ isChatDbLidMigrated: true }).finish();
  return announces.pairing ? [node("client-props", {}, Buffer.from(props))] : [];
}

function signedIdentity(
  person: ServerPerson,
  { registration }: PairingCandidate,
  details: Uint8Array,
  advSecret: Buffer,
  forge?: Forgery,
): Uint8Array {
  const signer = forge === "signature" ? Curve.generateKeyPair() : person.identity;
  const signed = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: person.identity.public,
    accountSignature: Curve.sign(signer.private, Buffer.concat([ACCOUNT, details, registration.identity])),
  }).finish();
  const hmac = createHmac("sha256", advSecret).update(signed).digest();
  if (forge === "hmac") hmac[0] = (hmac[0] ?? 0) ^ 1;
  return proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish();
}

/** The client rejected the pairing, and the phone shows that it failed. */
export function refuseLink({ signing }: PairingCandidate, { attrs, content }: BinaryNode): void {
  if (!signing || attrs.id !== signing.id || attrs.type !== "error") return;
  const { code, text } = child({ tag: "iq", attrs, content }, "error")?.attrs ?? {};
  signing.refused(new Error(`the client refused the pairing: ${code} ${text}`));
}

/** The client has signed: links it and requests a login. */
export function finishLink(network: Network, candidate: PairingCandidate, reply: BinaryNode): boolean {
  const { signing, connection, registration } = candidate;
  if (!signing || reply.attrs.id !== signing.id || reply.attrs.type !== "result") return false;
  const { companion, details } = signing;
  const raw = bytes(child(child(reply, "pair-device-sign"), "device-identity"));
  const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(raw);
  const message = Buffer.concat([DEVICE, details, registration.identity, companion.person.identity.public]);
  if (!deviceSignature || !verifySignature(registration.identity, message, deviceSignature)) {
    network.book.unhandled.push(`wrong device signature of ${companion.person.phone}:${companion.number}`);
    return false;
  }
  companion.confirmed = true;
  companion.person.companions.set(companion.number, companion);
  notifyOfDevice(network, companion, "add");
  const restart = () => connection.end(streamError(515), "restart after pairing");
  const delay = network.faults.take("restart_delayed", companion.person.phone)?.ms;
  if (delay === undefined) restart();
  else setTimeout(restart, delay);
  signing.signed();
  return true;
}
