import type { Pool } from "pg";
import { phoneJid } from "../jid.ts";
import type {
  NewSandboxGroup,
  SandboxControl,
  SandboxPersonChange,
  SandboxPersonView,
} from "../sandbox-control.ts";
import type { ChatState } from "../session-operations.ts";
import { type NetworkAction, rejected, runNetworkAction, succeeded } from "./connection/network-action.ts";
import { changeChatState } from "./operations/chat-operations.ts";
import { assignLabel, changeLabel } from "./operations/label-operations.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { lidOf, type SandboxPerson } from "./sandbox-numbers.ts";
import { changeGroup, changeParticipants, createGroup, enterGroup } from "./world/change-group.ts";
import { lockGroup } from "./world/group-store.ts";
import { contactEntry, findPhoneOwner, findProfile, saveContact, saveProfile } from "./world/person-store.ts";

type World = Pick<
  SandboxControl,
  | "setPerson"
  | "changeChat"
  | "changeLabel"
  | "assignLabel"
  | "createGroup"
  | "changeParticipants"
  | "joinGroup"
  | "changeGroup"
>;

/** Actions of other people and of the phone itself, except messages. */
export function createWorldControls(network: SandboxNetwork<Pool>): World {
  const as = async (phone: string): Promise<{ actor: SandboxPerson }> => ({
    actor: { phone, push_name: (await findProfile(network, phone)).name },
  });
  const onPhone = async (phone: string, change: (acting: NetworkAction) => Promise<void>) => {
    const actor = await findPhoneOwner(network, phone);
    return runNetworkAction(network, { actor }, async (acting) => {
      const isThere = await isPaired(acting, phone);
      if (isThere) await change(acting);
      return isThere;
    });
  };
  return {
    async setPerson(phone, from, change) {
      const actor = await findPhoneOwner(network, phone);
      return runNetworkAction(network, { actor }, async (acting) => {
        if (!(await isPaired(acting, phone))) return undefined;
        const { entry, view } = await savePerson(acting, phone, from, change);
        await acting.deliver([phone], phoneJid(from), entry);
        return view;
      });
    },

    async changeChat(phone, chat, change: ChatState) {
      const actor = await findPhoneOwner(network, phone);
      return runNetworkAction(network, { actor }, async (acting) =>
        (await isPaired(acting, phone)) ? changeChatState(acting, chat, change) : undefined,
      );
    },

    changeLabel: (phone, label, is_deleted) =>
      onPhone(phone, (acting) => changeLabel(acting, label, is_deleted)),
    assignLabel: (phone, assignment) => onPhone(phone, (acting) => assignLabel(acting, assignment)),

    async createGroup({ from, subject, participants, admins }: NewSandboxGroup) {
      return runNetworkAction(network, await as(from), async (acting) => {
        const { group } = await createGroup(acting, subject, participants.map(phoneJid), admins);
        return group.jid;
      });
    },

    async changeParticipants(group, from, action, participants) {
      return runNetworkAction(network, await as(from), (acting) =>
        changeParticipants(acting, group, action, participants.map(phoneJid)),
      );
    },

    async joinGroup(jid, from) {
      return runNetworkAction(network, await as(from), async (acting) => {
        const group = await lockGroup(acting, jid);
        if (!group) return rejected("NOT_FOUND", "There is no such group.");
        const result = await enterGroup(acting, group);
        const is_waiting = result.outcome !== "done" && group.join_approval;
        return is_waiting || result.outcome === "done" ? succeeded({ is_waiting }) : result;
      });
    },

    async changeGroup(group, from, change) {
      return runNetworkAction(network, await as(from), (acting) => changeGroup(acting, group, change));
    },
  };
}

async function isPaired({ client, account_id }: SandboxNetwork, phone: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from sandbox.device
     where phone = $1 and account_id = $2 and linked_at is not null and unlinked_at is null limit 1`,
    [phone, account_id],
  );
  return rowCount === 1;
}

async function savePerson(
  network: SandboxNetwork,
  owner: string,
  phone: string,
  change: SandboxPersonChange,
) {
  const { name, known, push_name, picture_url, ...rest } = change;
  const profile = await saveProfile(network, phone, {
    ...rest,
    ...(push_name !== undefined && { name: push_name }),
    ...(picture_url !== undefined && { picture: picture_url }),
  });
  const contact = await saveContact(network, owner, phone, {
    ...(name !== undefined && { name }),
    ...(known !== undefined && { known }),
  });
  const { about, verified_name, business, catalog } = profile;
  const view: SandboxPersonView = {
    jid: phoneJid(phone),
    lid: lidOf(phone),
    name: contact.name,
    push_name: profile.name,
    about,
    picture_url: profile.picture,
    verified_name,
    business,
    catalog,
    known: contact.known,
    is_blocked: contact.is_blocked,
  };
  return { entry: contactEntry(contact, profile), view };
}
