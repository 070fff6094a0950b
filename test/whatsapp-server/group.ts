import { randomBytes, randomInt } from "node:crypto";
import type { Device, ServerPerson } from "./person.ts";
import type { Addressing } from "./protocol/jid.ts";

/** A recipient: a person by phone or LID, or a group. */
export type Address =
  | { kind: "person"; person: ServerPerson; addressing: Addressing }
  | { kind: "group"; group: ServerGroup };

/** A broadcast list of a phone with its recipients. */
export interface BroadcastList {
  jid: string;
  recipients: ServerPerson[];
  addressing: Addressing;
}

/** Who may add members, in the network's terms. */
export const MEMBER_ADD = { everybody: "all_member_add", admins: "admin_add" } as const;

export class ServerGroup {
  readonly jid: string;
  readonly addressing: Addressing;
  readonly createdAt = Date.now();
  readonly owner: ServerPerson;
  /** Admin flag of each member. */
  readonly members = new Map<ServerPerson, boolean>();
  subject: string;
  description = "";
  descriptionId: string | undefined;
  announce = false;
  locked = false;
  /** The announcement group of a community, which shows no plain reactions. */
  isOfCommunity = false;
  ephemeral = 0;
  /** Seconds since the epoch. */
  ephemeralSetAt = 0;
  approval = false;
  /** Who waits for an admin's approval, with the time in seconds since the epoch. */
  readonly requests = new Map<ServerPerson, number>();
  memberAddMode: string = MEMBER_ADD.everybody;
  picture: { id: string; path: string } | undefined;
  invite = newInvite();

  constructor(subject: string, owner: ServerPerson, addressing: Addressing, jid = newJid()) {
    this.jid = jid;
    this.subject = subject;
    this.owner = owner;
    this.addressing = addressing;
    this.members.set(owner, true);
  }

  get devices(): Device[] {
    return [...this.members.keys()].flatMap((member) => member.devices);
  }

  renewInvite(): string {
    this.invite = newInvite();
    return this.invite;
  }
}

/** Only admins change locked fields. */
export const mayChange = (group: ServerGroup, person: ServerPerson): boolean =>
  group.members.has(person) && (!group.locked || group.members.get(person) === true);

const newJid = (): string => `120363${randomInt(10 ** 11, 10 ** 12)}@g.us`;

const newInvite = (): string => randomBytes(11).toString("base64url");
