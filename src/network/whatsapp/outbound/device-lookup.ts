import { type BinaryNode, type GroupMetadata, jidDecode, type WASocket } from "baileys";
import type { Jid } from "../../driver.ts";
import { isLidJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid, userOf } from "../stanzas/plain-jid.ts";
import type { DeviceCache, DeviceList } from "./device-cache.ts";

export interface DeviceLookupOptions {
  sock: WASocket;
  devices: DeviceCache;
  identities: IdentityStore;
}

const NUMBERS = "s.whatsapp.net";

/**
 * Finds the devices of recipients before Baileys does. The network names no devices of migrated people by number, so
 * they are looked up by LID, also where the message names people by number.
 */
export class DeviceLookup {
  readonly #options: DeviceLookupOptions;

  constructor(options: DeviceLookupOptions) {
    this.#options = options;
    const { sock, devices } = options;
    // Baileys applies a change to the address that the network names, and not to the person's other one.
    sock.ws.on("CB:notification,type:devices", ({ attrs: { from, lid } }: BinaryNode) => {
      for (const jid of [from, lid]) if (jid) devices.del(userOf(jid));
    });
  }

  /** Whether the person has a known device, or one that a query finds. Queries ours too, as the send would. */
  async reaches(address: Jid): Promise<boolean> {
    const { devices, identities } = this.#options;
    if (await devices.get(userOf(address))) return true;
    const { me } = identities;
    const own = isLidJid(address) ? (me.lid ?? me.jid) : me.jid;
    if ((await this.#query([own, address])).some(({ user }) => user === userOf(address))) return true;
    const lid = isLidJid(address) ? null : (await identities.identify(address))?.lid;
    return lid ? (await this.#findByLid([address])).length > 0 : false;
  }

  /** Those of these people who have a device. */
  async reachable(people: readonly Jid[]): Promise<Jid[]> {
    const found = new Set((await this.#query([...people])).map(({ user }) => user));
    const missing = people.filter((jid) => !found.has(userOf(jid)) && !isLidJid(jid));
    const byLid = new Set(missing.length > 0 ? await this.#findByLid(missing) : []);
    return people.filter((jid) => found.has(userOf(jid)) || byLid.has(jid));
  }

  /**
   * Caches our devices without this one. Baileys compares the whole LID with a user part, and would send a story to this
   * device too.
   */
  async learnOwn(own: Jid): Promise<void> {
    const { sock, devices } = this.#options;
    const ownDevice = jidDecode(sock.authState.creds.me?.id)?.device;
    const found = await this.#query([own]);
    devices.set(
      userOf(own),
      found.filter(({ device }) => device !== ownDevice),
    );
  }

  /** Whether any other member has a device; true if there is no other member. */
  async reachesGroup({ participants, addressingMode }: GroupMetadata): Promise<boolean> {
    const { devices, identities } = this.#options;
    const members = participants.flatMap(({ id }) => plainJid(id) ?? []);
    const others = members.filter((jid) => !identities.isMe(jid));
    if (others.length === 0) return true;
    const known = await devices.mget(members.map(userOf));
    const isReached = others.some((jid) => known[userOf(jid)]);
    if (addressingMode === "lid") return isReached || (await this.#query(others)).length > 0;
    const missing = members.filter((jid) => !known[userOf(jid)]);
    const found = missing.length > 0 ? await this.#findByLid(missing) : [];
    return isReached || found.some((jid) => !identities.isMe(jid));
  }

  /** Stores the devices under the numbers; returns the numbers that have some. */
  async #findByLid(numbers: readonly Jid[]): Promise<Jid[]> {
    const { sock, devices, identities } = this.#options;
    const people = await identities.identifyAll(numbers.map((address) => ({ address })));
    const lids = people.map((person, i) => person?.lid ?? numbers[i]);
    const found = await this.#query(lids.filter((jid) => jid !== undefined));
    const ownDevice = jidDecode(sock.authState.creds.me?.id)?.device;
    return numbers.filter((number, i) => {
      const user = userOf(number);
      const theirs = found
        .filter((one) => one.user === userOf(lids[i] ?? number))
        .filter(({ device }) => device !== ownDevice || !identities.isMe(number))
        .map(({ device }) => ({ user, device, server: NUMBERS }));
      if (theirs.length > 0) devices.set(user, theirs);
      return theirs.length > 0;
    });
  }

  #query(addresses: Jid[]): Promise<DeviceList> {
    return this.#options.sock.getUSyncDevices(addresses, true, false);
  }
}
