import type { Pool, PoolClient } from "pg";
import type { ChatState } from "../calls.ts";
import { phoneJid } from "../ids.ts";
import type { NewGroup, PersonChange, PersonView, SandboxControl } from "../sandbox-control.ts";
import { act } from "./acting.ts";
import { changeChat } from "./chats.ts";
import { changeGroup, changeParticipants, createGroup } from "./group-acts.ts";
import { lidOf, type Person } from "./numbers.ts";
import { contactLetter, findOwner, findProfile, saveContact, saveProfile } from "./people.ts";

type World = Pick<
  SandboxControl,
  "setPerson" | "changeChat" | "createGroup" | "changeParticipants" | "changeGroup" | "picture"
>;

/** What other people, and the phone itself, do beside messages. */
export function createWorld(pool: Pool): World {
  const as = async (phone: string): Promise<{ me: Person }> => ({
    me: { phone, push_name: (await findProfile(pool, phone)).name },
  });
  return {
    async setPerson(phone, from, change) {
      const me = await findOwner(pool, phone);
      return act(pool, { me }, async ({ client, post }) => {
        if (!(await isPaired(client, phone))) return undefined;
        const { letter, view } = await savePerson(client, phone, from, change);
        await post([phone], phoneJid(from), letter);
        return view;
      });
    },

    async changeChat(phone, chat, change: ChatState) {
      const me = await findOwner(pool, phone);
      return act(pool, { me }, async (acting) =>
        (await isPaired(acting.client, phone)) ? changeChat(acting, chat, change) : undefined,
      );
    },

    async createGroup({ from, subject, participants, admins }: NewGroup) {
      return act(pool, await as(from), async (acting) => {
        const { group } = await createGroup(acting, subject, participants.map(phoneJid), admins);
        return group.jid;
      });
    },

    async changeParticipants(group, from, action, participants) {
      return act(pool, await as(from), (acting) =>
        changeParticipants(acting, group, action, participants.map(phoneJid)),
      );
    },

    async changeGroup(group, from, change) {
      return act(pool, await as(from), (acting) => changeGroup(acting, group, change));
    },

    async picture(id) {
      const { rows } = await pool.query<{ bytes: Buffer }>(
        "select bytes from sandbox.picture where id = $1",
        [id],
      );
      return rows[0]?.bytes;
    },
  };
}

async function isPaired(client: PoolClient, phone: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "select from sandbox.device where phone = $1 and linked_at is not null and unlinked_at is null limit 1",
    [phone],
  );
  return rowCount === 1;
}

async function savePerson(client: PoolClient, owner: string, phone: string, change: PersonChange) {
  const { name, known, push_name, picture_url, ...rest } = change;
  const profile = await saveProfile(client, phone, {
    ...rest,
    ...(push_name !== undefined && { name: push_name }),
    ...(picture_url !== undefined && { picture: picture_url }),
  });
  const contact = await saveContact(client, owner, phone, {
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
