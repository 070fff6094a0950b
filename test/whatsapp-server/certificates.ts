import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const DAY_MS = 86_400_000;

/** DER: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));

const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name, "utf8")))));

const time = (at: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));

const extension = (id: string, value: Buffer, critical: boolean): Buffer =>
  sequence(oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));

interface Subject {
  name: string;
  publicKey: KeyObject;
  extensions: Buffer[];
}

function certificate(subject: Subject, issuer: { name: string; privateKey: KeyObject }): string {
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(12)]);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_SHA256,
    named(issuer.name),
    sequence(time(Date.now() - DAY_MS), time(Date.now() + 365 * DAY_MS)),
    named(subject.name),
    subject.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...subject.extensions)),
  );
  const signature = sign("sha256", body, issuer.privateKey);
  const whole = sequence(body, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

export interface Authority {
  pem: string;
  /** Key and certificate for an IPv4 address of this machine; agents of proxies ask for its name instead. */
  issue(address: string): { key: string; cert: string };
}

/** A certificate authority that lives as long as the process. */
export function makeAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ca = [
    extension("551d13", sequence(der(0x01, Buffer.from([0xff]))), true),
    extension("551d0f", der(0x03, Buffer.from([1, 0x06])), true),
  ];
  const pem = certificate({ name, publicKey, extensions: ca }, { name, privateKey });
  return {
    pem,
    issue(address) {
      const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const ip = der(0x87, Buffer.from(address.split(".").map(Number)));
      const names = extension("551d11", sequence(ip, der(0x82, Buffer.from("localhost"))), false);
      const subject = { name: address, publicKey: leaf.publicKey, extensions: [names] };
      const cert = certificate(subject, { name, privateKey });
      return { key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert };
    },
  };
}
