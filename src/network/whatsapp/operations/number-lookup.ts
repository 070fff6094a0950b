import type { WASocket } from "baileys";
import type { Jid } from "../../driver.ts";
import { isGroupJid, phoneOfJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { DeviceCache } from "../outbound/device-cache.ts";
import { userOf } from "../wire/plain-jid.ts";

export interface NumberLookupOptions {
  sock: WASocket;
  people: IdentityStore;
  devices: DeviceCache;
}

/** Who is on the network. */
export class NumberLookup {
  readonly #options: NumberLookupOptions;

  constructor(options: NumberLookupOptions) {
    this.#options = options;
  }

  /** Costs nothing for somebody whose devices are known, and else the one question that the send would ask anyway. */
  async isThere(jid: Jid): Promise<boolean> {
    if (isGroupJid(jid) || this.#options.people.isMe(jid)) return true;
    const user = userOf(jid);
    if (await this.#options.devices.get(user)) return true;
    const { sock } = this.#options;
    const devices = await sock.getUSyncDevices([this.#own(jid), jid], true, false);
    if (devices.some((device) => device.user === user)) return true;
    const phone = phoneOfJid(jid);
    if (phone === null) return true;
    const found = await sock.onWhatsApp(phone);
    return found?.some(({ exists }) => exists === true) ?? false;
  }

  /** The send asks for our own devices too, under the same kind of address. */
  #own(jid: Jid): string {
    const { me } = this.#options.people;
    return jid.endsWith("@lid") ? (me.lid ?? me.jid) : me.jid;
  }
}
