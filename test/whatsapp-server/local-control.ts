import { proto } from "baileys";
import { changeAppState } from "./app-state.ts";
import type { Companion } from "./companion.ts";
import { endConnection } from "./connection.ts";
import { shareSaltInSettings } from "./contact-trust.ts";
import type {
  AppSetting,
  Fault,
  FileAddress,
  Forgery,
  GroupInfo,
  HistoryChat,
  NewServerGroup,
  NewServerPerson,
  PasskeyDemand,
  PersonInfo,
  PresenceState,
  RawNode,
  RefreshChild,
  SayOptions,
  SecretChange,
  SecretChangeOptions,
  SeenMessage,
  SentContent,
  ServerDisconnect,
  ServerGroupChange,
  Settings,
  WhatsAppControl,
} from "./control.ts";
import { reinstall, removeDevice } from "./device-notifications.ts";
import { MEMBER_ADD } from "./group.ts";
import { Handset } from "./handset.ts";
import { announceMigration, announceMigrationInHistory, sendHistoryFile, sendSalt } from "./initial-sync.ts";
import type { Network } from "./network.ts";
import type { Candidates } from "./pairing/candidates.ts";
import { sendEncryptedChange } from "./phone/encrypted-changes.ts";
import * as talk from "./phone/phone-actions.ts";
import { resendToDevice } from "./phone/send-to-devices.ts";
import type { SignedAssertion } from "./protocol/authenticator.ts";
import { seconds } from "./protocol/nodes.ts";
import type { Ledger } from "./protocol/records.ts";
import { signalAddress } from "./protocol/signal-end.ts";
import { changeGroup, enterGroup } from "./queries/group-changes.ts";

/** The control of a server in this process. */
export class LocalControl implements WhatsAppControl {
  readonly #network: Network;
  readonly #candidates: Candidates;
  readonly #door: (open: boolean) => Promise<void>;

  constructor(network: Network, candidates: Candidates, door: (open: boolean) => Promise<void>) {
    this.#network = network;
    this.#door = door;
    this.#candidates = candidates;
  }

  async addPerson(options: NewServerPerson = {}): Promise<PersonInfo> {
    const person = this.#network.addPerson(options);
    person.handset = new Handset(person);
    return this.person(person.phone);
  }

  async person(phone: string): Promise<PersonInfo> {
    const { companions, name, about, blocked, picture, ...person } = this.#network.person(phone);
    return {
      phone: person.phone,
      jid: this.#network.person(phone).jid("pn"),
      lid: this.#network.person(phone).jid("lid"),
      name,
      about,
      has_picture: picture !== undefined,
      blocked: [...blocked],
      devices: [...companions.values()].map(
        ({ number, connection, presence, waiting, preKeys, registration }) => ({
          number,
          presence,
          name: registration.name,
          online: connection?.open ?? false,
          waiting,
          pre_keys: preKeys.size,
          signed_pre_key: registration.signedPreKey.id,
        }),
      ),
    };
  }

  async addGroup(subject: string, members: string[], options: NewServerGroup = {}): Promise<GroupInfo> {
    const [owner, ...others] = members.map((phone) => this.#network.person(phone));
    if (!owner) throw new Error("a group needs a member");
    const group = this.#network.addGroup(subject, owner, options.addressing ?? "lid");
    group.isOfCommunity = options.isOfCommunity ?? false;
    for (const other of others) group.members.set(other, false);
    return this.group(group.jid);
  }

  async group(jid: string): Promise<GroupInfo> {
    const group = this.#network.group(jid);
    const { subject, addressing, members, description, announce, locked, invite, picture } = group;
    const { approval: join_approval, memberAddMode, requests } = group;
    return {
      jid,
      subject,
      addressing,
      description,
      announce,
      locked,
      join_approval,
      members_can_add: memberAddMode === MEMBER_ADD.everybody,
      requests: [...requests.keys()].map((person) => person.phone),
      has_picture: picture !== undefined,
      invite,
      members: [...members].map(([person, admin]) => ({
        phone: person.phone,
        lid: person.jid("lid"),
        admin,
      })),
    };
  }

  async changeGroup(by: string, jid: string, change: ServerGroupChange): Promise<GroupInfo> {
    changeGroup(this.#network, this.#network.group(jid), this.#network.person(by), change);
    return this.group(jid);
  }

  async joinGroup(by: string, jid: string): Promise<GroupInfo> {
    enterGroup(this.#network, this.#network.group(jid), this.#network.person(by));
    return this.group(jid);
  }

  async scan(phone: string, qr: string, options: { forge?: Forgery } = {}): Promise<number> {
    return this.#candidates.scan(this.#network.person(phone), qr, options.forge);
  }

  enterCode(phone: string, code: string, options: { ref?: string } = {}): Promise<number> {
    return this.#candidates.codes.enter(this.#network.person(phone), code, options.ref);
  }

  async refreshRegistration(options: { child?: RefreshChild; id?: string } = {}): Promise<string> {
    return this.#candidates.refresh(options.child ?? "companion_reg_refresh", options.id);
  }

  async registrationStanzas(): Promise<RawNode[]> {
    return [...this.#candidates.stanzas];
  }

  async expireReferences(): Promise<void> {
    this.#candidates.expireReferences();
  }

  async endRegistrations(): Promise<void> {
    this.#candidates.end();
  }

  async pairingCode(phone: string): Promise<{ ref: string }> {
    return this.#candidates.codes.find(phone);
  }

  async giveConsent(phone: string): Promise<number> {
    return this.#candidates.codes.giveConsent(phone);
  }

  async refreshCode(phone: string, options: { manual?: boolean; ref?: string } = {}): Promise<void> {
    this.#candidates.codes.refresh(phone, options);
  }

  async scanWithPasskey(phone: string, qr: string, demand: PasskeyDemand = {}): Promise<number> {
    return this.#candidates.scanWithPasskey(this.#network.person(phone), qr, demand);
  }

  async signPasskey(
    phone: string,
    options: Record<string, unknown>,
    how: { origin?: string } = {},
  ): Promise<SignedAssertion> {
    return this.#network.person(phone).passkey.sign(options, how.origin);
  }

  async passkeyCode(phone: string): Promise<string | undefined> {
    return this.#candidates.passkeyCode(this.#network.person(phone));
  }

  async unlink(phone: string, device?: number): Promise<void> {
    const { companions } = this.#network.person(phone);
    for (const companion of [...companions.values()]) {
      if (device !== undefined && companion.number !== device) continue;
      removeDevice(this.#network, companion, "unlinked by the phone");
    }
  }

  async ban(phone: string, banned = true): Promise<void> {
    this.#network.person(phone).banned = banned;
    if (banned) await this.end(phone, 403);
  }

  async migrate(phone: string, how: "props" | "push" | "history"): Promise<void> {
    const person = this.#network.person(phone);
    person.isMigrated = true;
    if (how === "props") person.announces.props = true;
    const announce = how === "push" ? announceMigration : announceMigrationInHistory;
    if (how !== "props") await this.#toDevices(phone, (one) => announce(this.#network, one));
  }

  async shareSalt(
    phone: string,
    salt: Uint8Array | undefined,
    options: { in?: "settings" | "history" } = {},
  ): Promise<void> {
    const person = this.#network.person(phone);
    person.salt = salt;
    if (options.in !== "history") return shareSaltInSettings(person, salt);
    await this.#toDevices(phone, (one) => sendSalt(this.#network, one));
  }

  async #toDevices(phone: string, send: (device: Companion) => Promise<void>): Promise<void> {
    for (const companion of this.#network.person(phone).companions.values()) await send(companion);
  }

  async reinstall(phone: string): Promise<void> {
    reinstall(this.#network, this.#network.person(phone));
  }

  async renewLid(phone: string): Promise<PersonInfo> {
    this.#network.renewLid(this.#network.person(phone));
    return this.person(phone);
  }

  async setDefaultTimer(phone: string, duration: number, at: number): Promise<void> {
    talk.setDefaultTimer(this.#network.person(phone), duration, seconds(at));
  }

  async meet(by: string, phone: string): Promise<void> {
    const { handset } = this.#network.person(by);
    for (const device of this.#network.person(phone).devices) {
      const address = signalAddress(device.person.lid, device.number);
      await handset.signal.meet(address, await device.bundle());
    }
  }

  setTimer(
    by: string,
    to: string,
    expiration: number,
    { silently = false, at = Date.now() }: { silently?: boolean; at?: number } = {},
  ): Promise<void> {
    return talk.setTimer(this.#network, by, to, { expiration, set_at: seconds(at) }, silently);
  }

  sendMessage(
    from: string,
    to: string,
    content: SentContent | string,
    options: SayOptions = {},
  ): Promise<string> {
    const sent: SentContent = typeof content === "string" ? { kind: "text", text: content } : content;
    return talk.sendMessage(this.#network, from, to, sent, options);
  }

  postStatus(
    by: string,
    to: string,
    text: string,
    options: SayOptions & { stanza?: "message" | "status" } = {},
  ): Promise<string> {
    return talk.postStatus(this.#network, by, to, text, options);
  }

  edit(by: string, to: string, id: string, text: string, options: SayOptions = {}): Promise<string> {
    return talk.edit(this.#network, by, to, { id, text }, options);
  }

  delete(by: string, to: string, id: string, options: SayOptions = {}): Promise<string> {
    return talk.remove(this.#network, by, to, id, options);
  }

  react(by: string, to: string, id: string, reaction: string, options: SayOptions = {}): Promise<string> {
    return talk.react(this.#network, by, to, { id, reaction }, options);
  }

  pin(by: string, to: string, id: string, seconds: number, options: SayOptions = {}): Promise<string> {
    return talk.pin(this.#network, by, to, { id, seconds }, options);
  }

  star(by: string, to: string, id: string, starred: boolean): Promise<void> {
    return talk.star(this.#network, by, to, id, starred);
  }

  sendEncryptedChange(
    by: string,
    to: string,
    id: string,
    change: SecretChange,
    options: SecretChangeOptions = {},
  ): Promise<string> {
    return sendEncryptedChange(this.#network, { by, to, id }, change, options);
  }

  async read(by: string, ids: string[], options: { played?: boolean } = {}): Promise<void> {
    talk.read(this.#network, by, ids, options.played ? "played" : "read");
  }

  async presence(by: string, to: string, state: PresenceState): Promise<void> {
    talk.presence(this.#network, by, to, state);
  }

  async call(by: string, to: string, options: { video?: boolean } = {}): Promise<string> {
    return talk.startPhoneCall(this.#network, by, to, options.video ?? false);
  }

  async sayAgain(by: string, to: string, id: string): Promise<void> {
    const { handset } = this.#network.person(by);
    for (const companion of this.#network.person(to).companions.values())
      await resendToDevice(this.#network, handset, companion, id, { count: 1 });
  }

  requestRetry(by: string, id: string, options: Pick<SayOptions, "addressing"> = {}): Promise<void> {
    return talk.requestRetryOf(this.#network, by, id, options);
  }

  changeSetting(phone: string, change: Record<string, unknown>, jid: string): Promise<void> {
    return changeAppState(this.#network.person(phone), change, jid);
  }

  async appSettings(phone: string): Promise<AppSetting[]> {
    return [...this.#network.person(phone).appSettings];
  }

  async seen(by: string): Promise<SeenMessage[]> {
    return [...this.#network.person(by).handset.seen];
  }

  async message(by: string, id: string): Promise<Record<string, unknown> | undefined> {
    const stored = this.#network.person(by).handset.kept(id);
    return stored && proto.Message.create(stored.message).toJSON();
  }

  file(by: string, id: string): Promise<Uint8Array | undefined> {
    return talk.file(this.#network, by, id);
  }

  async end(phone: string, how: ServerDisconnect): Promise<void> {
    for (const { connection } of this.#network.person(phone).companions.values()) {
      if (connection) endConnection(connection, how);
    }
  }

  async fault(fault: Fault): Promise<void> {
    this.#network.faults.order(fault);
  }

  async clearFaults(): Promise<void> {
    this.#network.faults.clear();
  }

  async restrictNewChats(phone: string, until: number | undefined): Promise<void> {
    talk.restrict(this.#network.person(phone), until);
  }

  async expireMedia(options: { phones?: boolean } = {}): Promise<void> {
    this.#network.media.clear();
    if (!options.phones) return;
    for (const { handset } of this.#network.people.values()) handset.deleteFiles();
  }

  async sendHistoryFile(phone: string, history: HistoryChat[], at?: FileAddress): Promise<void> {
    for (const companion of this.#network.person(phone).companions.values()) {
      await sendHistoryFile(this.#network, companion, history, at);
    }
  }

  async push(phone: string | "unpaired", stanza: RawNode): Promise<void> {
    if (phone === "unpaired") return this.#candidates.push(stanza);
    for (const companion of this.#network.person(phone).companions.values()) companion.push(stanza);
  }

  async settings(change: Partial<Settings>): Promise<Settings> {
    Object.assign(this.#network.settings, change);
    this.#network.book.keeps = this.#network.settings.keepLedger;
    return { ...this.#network.settings };
  }

  async listen(on: boolean): Promise<void> {
    await this.#door(on);
  }

  async ledger(): Promise<Ledger> {
    const { sockets, arrivals, decryptions, deliveries, receipts, acks } = this.#network.book;
    return structuredClone({ sockets, arrivals, decryptions, deliveries, receipts, acks });
  }

  async clearLedger(): Promise<void> {
    this.#network.book.clear();
  }

  async arrivals(id: string): Promise<number> {
    return this.#network.book.arrivedTimes(id);
  }

  async waiting(phone: string): Promise<number> {
    return [...this.#network.person(phone).companions.values()].reduce((sum, one) => sum + one.waiting, 0);
  }

  async maxOpenAtOnce(): Promise<number> {
    return this.#network.book.maxOpenAtOnce;
  }

  async stanzas(phone: string): Promise<Record<string, number>> {
    return Object.fromEntries(this.#network.book.stanzas.get(phone) ?? []);
  }

  async unhandled(): Promise<string[]> {
    return [...this.#network.book.unhandled];
  }
}
