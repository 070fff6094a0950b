import type { Pool } from "pg";
import type { ChatState } from "../calls.ts";
import { phoneJid } from "../ids.ts";
import type { NewGroup, PersonChange, PersonView, SandboxControl } from "../sandbox-control.ts";
import type { AccountNetwork } from "./account-network.ts";
import { act } from "./acting.ts";
import { changeChat } from "./chats.ts";
import { changeGroup, changeParticipants, createGroup } from "./group-acts.ts";
import { lidOf, type Person } from "./numbers.ts";
import { contactLetter, findOwner, findProfile, saveContact, saveProfile } from "./people.ts";

type World = Pick<
  SandboxControl,
  "setPerson" | "changeChat" | "createGroup" | "changeParticipants" | "changeGroup"
>;

/** What other people, and the phone itself, do beside messages. */
export function createWorld(network: AccountNetwork<Pool>): World {
  const as = async (phone: string): Promise<{ me: Person }> => ({
    me: { phone, push_name: (await findProfile(network, phone)).name },
  });
  return {
    async setPerson(phone, from, change) {
      const me = await findOwner(network, phone);
      return act(network, { me }, async (acting) => {
        if (!(await isPaired(acting, phone))) return undefined;
        const { letter, view } = await savePerson(acting, phone, from, change);
        await acting.post([phone], phoneJid(from), letter);
        return view;
      });
    },

    async changeChat(phone, chat, change: ChatState) {
      const me = await findOwner(network, phone);
      return act(network, { me }, async (acting) =>
        (await isPaired(acting, phone)) ? changeChat(acting, chat, change) : undefined,
      );
    },

    async createGroup({ from, subject, participants, admins }: NewGroup) {
      return act(network, await as(from), async (acting) => {
        const { group } = await createGroup(acting, subject, participants.map(phoneJid), admins);
        return group.jid;
      });
    },

    async changeParticipants(group, from, action, participants) {
      return act(network, await as(from), (acting) =>
        changeParticipants(acting, group, action, participants.map(phoneJid)),
      );
    },

    async changeGroup(group, from, change) {
      return act(network, await as(from), (acting) => changeGroup(acting, group, change));
    },
  };
}

async function isPaired({ client, account_id }: AccountNetwork, phone: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from sandbox.device
     where phone = $1 and account_id = $2 and linked_at is not null and unlinked_at is null limit 1`,
    [phone, account_id],
  );
  return rowCount === 1;
}

async function savePerson(network: AccountNetwork, owner: string, phone: string, change: PersonChange) {
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
  const { about, verified_name, business } = profile;
  const view: PersonView = {
    jid: phoneJid(phone),
    lid: lidOf(phone),
    name: contact.name,
    push_name: profile.name,
    about,
    picture_url: profile.picture,
    verified_name,
    business,
    known: contact.known,
    is_blocked: contact.is_blocked,
  };
  return { letter: contactLetter(contact, profile), view };
}
