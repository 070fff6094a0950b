import { randomInt } from "node:crypto";
import type { ServerConnection } from "./connection.ts";
import type { Fault, NewServerPerson, Settings } from "./control.ts";
import { type Address, ServerGroup } from "./group.ts";
import type { ServerMediaStore } from "./media-store.ts";
import { type Device, ServerPerson } from "./person.ts";
import { type Addressing, isGroup, parseJid } from "./protocol/jid.ts";
import { ServerLedger } from "./protocol/ledger.ts";

type FaultOf<Name extends Fault["fault"]> = Extract<Fault, { fault: Name }>;

/** State of the whole network. */
export class Network {
  readonly book = new ServerLedger();
  readonly faults = new Faults();
  readonly connections = new Set<ServerConnection>();
  readonly people = new Map<string, ServerPerson>();
  readonly groups = new Map<string, ServerGroup>();
  readonly media: ServerMediaStore;
  readonly #lids = new Map<string, ServerPerson>();
  readonly #aliases = new Map<string, ServerPerson>();
  settings: Settings = {
    receiptDelayMs: 0,
    ackDelayMs: 0,
    addressing: "lid",
    initialSync: true,
    history: [],
    trustDemanded: false,
    oldestRevision: 0,
    keepLedger: true,
    encryptedEdits: false,
  };

  constructor(media: ServerMediaStore) {
    this.media = media;
  }

  addPerson(options: NewServerPerson): ServerPerson {
    const phone = options.phone ?? this.#freePhone();
    if (this.people.has(phone)) throw new Error(`${phone} is on the network already`);
    const lid = newLid();
    const person = new ServerPerson(phone, lid, {
      name: options.name ?? `Person ${phone.slice(-4)}`,
      opaque: options.opaque ?? false,
    });
    person.about = options.about ?? person.about;
    person.hidesProfile = options.hidesProfile ?? false;
    person.business = options.business;
    person.refusesGroups = options.refusesGroups ?? false;
    const { migrated = true } = options;
    const isSaid = migrated === true || migrated === "falsely";
    person.isMigrated = migrated === true || migrated === "unannounced";
    person.announces = { pairing: isSaid, props: isSaid };
    person.deviceless = options.deviceless ?? false;
    for (const other of options.trusts ?? []) this.person(other).trustedBy.add(phone);
    if (options.picture) person.picture = this.media.picture(options.picture);
    this.people.set(phone, person);
    this.#lids.set(lid, person);
    for (const alias of options.aliases ?? []) this.#aliases.set(alias, person);
    return person;
  }

  renewLid(person: ServerPerson): void {
    person.oldLids.add(person.lid);
    person.lid = newLid();
    this.#lids.set(person.lid, person);
  }

  addGroup(subject: string, owner: ServerPerson, addressing: Addressing): ServerGroup {
    const group = new ServerGroup(subject, owner, addressing);
    this.groups.set(group.jid, group);
    return group;
  }

  /** By digits or jid. */
  findPerson(who: string | undefined): ServerPerson | undefined {
    if (who === undefined) return undefined;
    if (!who.includes("@")) return this.people.get(who);
    const jid = parseJid(who);
    return jid && (jid.server === "lid" ? this.#lids.get(jid.user) : this.people.get(jid.user));
  }

  /** By a number in any spelling. */
  findByNumber(digits: string): ServerPerson | undefined {
    return this.people.get(digits) ?? this.#aliases.get(digits);
  }

  person(who: string): ServerPerson {
    const found = this.findPerson(who);
    if (!found) throw new Error(`nobody on the network is ${who}`);
    return found;
  }

  group(jid: string): ServerGroup {
    const found = this.groups.get(jid);
    if (!found) throw new Error(`no group is ${jid}`);
    return found;
  }

  device(jid: string): Device | undefined {
    return this.findPerson(jid)?.device(parseJid(jid)?.device ?? 0);
  }

  /** Resolves an addressed jid; undefined if it belongs to nobody. */
  address(jid: string, fallback: Addressing = "pn"): Address | undefined {
    if (isGroup(jid)) {
      const group = this.groups.get(jid);
      return group && { kind: "group", group };
    }
    const person = this.findPerson(jid);
    const addressing = jid.endsWith("@lid") ? "lid" : jid.includes("@") ? "pn" : fallback;
    return person && { kind: "person", person, addressing };
  }

  #freePhone(): string {
    for (;;) {
      const phone = `55119${randomInt(10_000_000, 99_999_999)}`;
      if (!this.people.has(phone)) return phone;
    }
  }
}

const newLid = (): string => `${randomInt(1, 9)}${String(randomInt(10 ** 12)).padStart(12, "0")}77`;

/** Pending faults, each for a number of uses. */
class Faults {
  #ordered: Fault[] = [];

  order(fault: Fault): void {
    this.#ordered.push({ ...fault, times: fault.times ?? 1 });
  }

  clear(): void {
    this.#ordered = [];
  }

  /** The first fault of a kind that matches, which uses it once. */
  take<Name extends Fault["fault"]>(
    name: Name,
    phone: string | undefined,
    fits: (fault: FaultOf<Name>) => boolean = () => true,
  ): FaultOf<Name> | undefined {
    const found = this.#ordered.find(
      (one): one is FaultOf<Name> =>
        one.fault === name && (one.phone === undefined || one.phone === phone) && fits(one as FaultOf<Name>),
    );
    if (!found) return undefined;
    found.times = (found.times ?? 1) - 1;
    if (found.times <= 0) this.#ordered = this.#ordered.filter((one) => one !== found);
    return found;
  }
}
