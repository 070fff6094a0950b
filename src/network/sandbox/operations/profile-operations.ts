import type { ProfileOperations } from "../../session-operations.ts";
import { type NetworkAction, type RunOperation, rejected, succeeded } from "../connection/network-action.ts";
import { identityOf } from "../sandbox-numbers.ts";
import { findProfile, saveProfile } from "../world/person-store.ts";
import { replacePicture } from "../world/picture-store.ts";
import type { PictureUrl } from "./contact-operations.ts";

const MAX_NAME = 25;

const MAX_ABOUT = 139;

/** The privacy settings of a phone that has changed none. */
const PRIVACY = {
  readreceipts: "all",
  profile: "all",
  status: "all",
  online: "all",
  last: "all",
  groupadd: "all",
  calladd: "all",
  messages: "all",
};

export function profileOperations(run: RunOperation, pictureUrl: PictureUrl): ProfileOperations {
  return {
    get: () =>
      run({ action: "profile" }, async (acting) => {
        const { actor } = acting;
        const { about, picture, business, privacy } = await findProfile(acting, actor.phone);
        return succeeded({
          ...identityOf(actor),
          about,
          picture_url: pictureUrl(picture),
          is_business: business !== null,
          business,
          privacy: { ...PRIVACY, ...privacy },
        });
      }),

    setName: (name) =>
      run({ action: "set_name" }, async (acting) => {
        if (name === "" || name.length > MAX_NAME) {
          return rejected("VALIDATION_ERROR", `The name must have 1 to ${MAX_NAME} characters.`);
        }
        await rename(acting, name);
        return succeeded(null);
      }),

    setAbout: (about) =>
      run({ action: "set_about" }, async (acting) => {
        if (about.length > MAX_ABOUT) {
          return rejected("VALIDATION_ERROR", `The text may have ${MAX_ABOUT} characters.`);
        }
        await saveProfile(acting, acting.actor.phone, { about: about || null });
        return succeeded(null);
      }),

    setPrivacy: (setting, value) =>
      run({ action: "set_privacy" }, async (acting) => {
        const { privacy } = await findProfile(acting, acting.actor.phone);
        await saveProfile(acting, acting.actor.phone, { privacy: { ...privacy, [setting]: value } });
        return succeeded(null);
      }),

    setPicture: (image) =>
      run({ action: "set_picture" }, async (acting) => {
        const { client, actor } = acting;
        const { picture } = await findProfile(acting, actor.phone);
        await saveProfile(acting, actor.phone, { picture: await replacePicture(client, picture, image) });
        return succeeded(null);
      }),
  };
}

/** Chats that receive a message after this see the new name. */
async function rename(acting: NetworkAction, name: string): Promise<void> {
  const { client, account_id, actor } = acting;
  await saveProfile(acting, actor.phone, { name });
  await client.query(
    `update sandbox.device set push_name = $3
     where phone = $2 and account_id = $1 and linked_at is not null and unlinked_at is null`,
    [account_id, actor.phone, name],
  );
  actor.push_name = name;
}
