import { randomBytes, randomInt } from "node:crypto";
import type { Device, ServerPerson } from "./person.ts";
import type { Addressing } from "./protocol/jid.ts";

/** Where a message goes: a person, by phone or by LID, or a group. */
export type Address =
  | { kind: "person"; person: ServerPerson; addressing: Addressing }
  | { kind: "group"; group: ServerGroup };

/** Of somebody's phone, with the people to whom its messages go. */
export interface BroadcastList {
  jid: string;
  recipients: ServerPerson[];
  addressing: Addressing;
}

/** Who may add members, as the network says it. */
export const MEMBER_ADD = { everybody: "all_member_add", admins: "admin_add" } as const;

/** A group and what its members see of it. */
export class ServerGroup {
  readonly jid: string;
  readonly addressing: Addressing;
  readonly createdAt = Date.now();
  readonly owner: ServerPerson;
  /** Whether each is an admin. */
  readonly members = new Map<ServerPerson, boolean>();
  subject: string;
  description = "";
  descriptionId: string | undefined;
  announce = false;
  locked = false;
  /** The announcement group of a community, where plain reactions are not shown. */
  isOfCommunity = false;
  ephemeral = 0;
  /** Seconds since the epoch. */
  ephemeralSetAt = 0;
  approval = false;
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

/** Only admins change what is locked. */
export const mayChange = (group: ServerGroup, person: ServerPerson): boolean =>
  group.members.has(person) && (!group.locked || group.members.get(person) === true);

const newJid = (): string => `120363${randomInt(10 ** 11, 10 ** 12)}@g.us`;

const newInvite = (): string => randomBytes(11).toString("base64url");
