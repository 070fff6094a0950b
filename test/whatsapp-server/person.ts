import { randomBytes } from "node:crypto";
import { Curve, type KeyPair, type proto } from "baileys";
import type { Collection } from "./app-state.ts";
import type { Companion } from "./companion.ts";
import type { AppSetting, Business } from "./control.ts";
import type { Handset } from "./handset.ts";
import { Authenticator } from "./protocol/authenticator.ts";
import { type Addressing, withDevice } from "./protocol/jid.ts";
import { SERVER } from "./protocol/nodes.ts";

/** The phone that the server runs, or a linked client. */
export type Device = Handset | Companion;

/** A person with a number on the network. */
export class ServerPerson {
  readonly phone: string;
  /** Digits of the LID, which is unrelated to the phone. */
  lid: string;
  /** LIDs of earlier accounts with this number. */
  readonly oldLids = new Set<string>();
  /** The identity that signs linked devices. */
  identity: KeyPair = Curve.generateKeyPair();
  readonly companions = new Map<number, Companion>();
  readonly blocked = new Set<string>();
  readonly privacy = new Map<string, string>([
    ["readreceipts", "all"],
    ["last", "all"],
    ["online", "all"],
    ["profile", "all"],
    ["status", "all"],
    ["groupadd", "all"],
    ["calladd", "all"],
    ["messages", "all"],
  ]);
  /** Phones of people with a chat. */
  readonly chats = new Set<string>();
  name: string;
  about = "Hey there! I am using WhatsApp.";
  hidesProfile = false;
  picture: { id: string; path: string } | undefined;
  disappearing = 0;
  /** When that was set, in seconds since the epoch. */
  disappearingSetAt = 0;
  banned = false;
  business: Business | undefined;
  refusesGroups = false;
  /** Whether direct chats use LIDs, and how clients learn it. */
  isMigrated = false;
  announces = { pairing: false, props: false };
  deviceless = false;
  /** Secret of the tokens that let others write to this person. */
  readonly trust = randomBytes(32);
  /** Phones of people who issued a token to this person. */
  readonly trustedBy = new Set<string>();
  /** Base of first-contact tokens. */
  salt: Uint8Array | undefined = randomBytes(32);
  restrictedUntil: number | undefined;
  opaque: boolean;
  /** Encrypts the settings that the own devices share. */
  appStateKey: proto.Message.IAppStateSyncKey | undefined;
  readonly appState = new Map<string, Collection>();
  /** All settings in order. */
  readonly appSettings: AppSetting[] = [];
  #handset: Handset | undefined;
  #nextDevice = 1;
  #passkey: Authenticator | undefined;

  constructor(phone: string, lid: string, options: { name: string; opaque: boolean }) {
    this.phone = phone;
    this.lid = lid;
    this.name = options.name;
    this.opaque = options.opaque;
  }

  get handset(): Handset {
    if (!this.#handset) throw new Error(`${this.phone} has no phone yet`);
    return this.#handset;
  }

  set handset(handset: Handset) {
    this.#handset = handset;
  }

  /** In a browser of this person. */
  get passkey(): Authenticator {
    this.#passkey ??= new Authenticator();
    return this.#passkey;
  }

  get devices(): Device[] {
    return [this.handset, ...this.companions.values()];
  }

  device(number: number): Device | undefined {
    return number === 0 ? this.handset : this.companions.get(number);
  }

  nextDevice(): number {
    return this.#nextDevice++;
  }

  jid(addressing: Addressing = "pn", device = 0): string {
    return addressing === "lid"
      ? withDevice(this.lid, device, "lid")
      : withDevice(this.phone, device, SERVER);
  }
}
