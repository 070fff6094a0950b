import type { WASocket } from "baileys";
import type { Jid } from "../../driver.ts";
import { isGroupJid, phoneOfJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { userOf } from "../wire/plain-jid.ts";
import type { DeviceCache } from "./device-cache.ts";

export interface NumberLookupOptions {
  sock: WASocket;
  identities: IdentityStore;
  devices: DeviceCache;
}

/** Checks who is on the network. */
export class NumberLookup {
  readonly #options: NumberLookupOptions;

  constructor(options: NumberLookupOptions) {
    this.#options = options;
  }

  /** Free for a person whose devices are known; otherwise one query, which the send would need anyway. */
  async isOnWhatsApp(jid: Jid): Promise<boolean> {
    if (isGroupJid(jid) || this.#options.identities.isMe(jid)) return true;
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

  /** The send also looks up our own devices, under the same kind of address. */
  #own(jid: Jid): string {
    const { me } = this.#options.identities;
    return jid.endsWith("@lid") ? (me.lid ?? me.jid) : me.jid;
  }
}
