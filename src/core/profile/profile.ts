import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { toSquareImage } from "../../platform/media/to-square-image.ts";
import { type PictureSource, readPicture } from "../messages/messages.ts";
import { type BusinessDeps, businessHandlers } from "./business-handlers.ts";
import type { profileContract } from "./contract.ts";

export interface ProfileDeps extends PictureSource, BusinessDeps {
  db: Db;
}

/** The profile of the paired phone; the instance's row also contains name and picture. */
export function profileHandlers(deps: ProfileDeps): Handlers<typeof profileContract> {
  const { db, runOperation } = deps;
  const readProfile = async (id: number) => {
    const profile = await runOperation(id, (session) => session.profile.get());
    const { push_name, picture_url } = profile;
    await saveProfileOnInstance(db, id, {
      ...(push_name && { profile_name: push_name }),
      profile_picture_url: picture_url,
    });
    return profile;
  };
  return {
    ...businessHandlers(deps),

    async getProfile({ input: { id } }) {
      const { push_name: name, ...profile } = await readProfile(id);
      return { ...profile, name, status: profile.about };
    },

    async setProfileName({ input: { id, name } }) {
      await runOperation(id, (session) => session.profile.setName(name));
      await saveProfileOnInstance(db, id, { profile_name: name });
      return { name };
    },

    async setProfileStatus({ input: { id, text } }) {
      await runOperation(id, (session) => session.profile.setAbout(text));
      const about = text || null;
      return { about, status: about };
    },

    async setPrivacy({ input: { id, ...settings } }) {
      const privacy: Record<string, string> = {};
      for (const [name, value] of Object.entries(settings)) {
        if (value === undefined) continue;
        try {
          await runOperation(id, (session) => session.profile.setPrivacy(name, value));
        } catch (error) {
          throw withApplied(error, Object.keys(privacy));
        }
        privacy[name] = value;
      }
      return { privacy };
    },

    async setProfilePhoto({ input }) {
      const picture = await readPhoto(deps, input);
      await runOperation(input.id, (session) => session.profile.setPicture(picture));
      // Only the network knows the URL of the new picture.
      await saveProfileOnInstance(db, input.id, { profile_picture_url: null });
      const picture_url = picture && (await readProfile(input.id).catch(() => null))?.picture_url;
      return { picture_url: picture_url ?? null };
    },
  };
}

/** The error of a setting, with the names of the settings that were changed before it. */
function withApplied(error: unknown, applied: string[]): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, retryAfterSeconds } = error;
  return new GatewayError(code, message, { details: { applied }, retryAfterSeconds });
}

/** Returns null if the picture is to be removed. */
async function readPhoto(
  deps: ProfileDeps,
  input: InputOf<typeof profileContract.setProfilePhoto>,
): Promise<Uint8Array | null> {
  const field = (["file", "url", "base64"] as const).find((name) => input[name] != null);
  const photo = field && input[field];
  if (field && photo != null)
    return toSquareImage(await readPicture(deps, { instance_id: input.id }, field, photo), field);
  if (input.url === null || input.base64 === null) return null;
  throw invalidField(
    "url",
    "one of url, base64 and file is required; null removes the picture",
    "one_of_required",
    { fields: "url, base64, file" },
  );
}

/** Copies the profile of the paired phone to the instance's row. */
export async function saveProfileOnInstance(
  db: Db,
  id: number,
  change: { profile_name?: string; profile_picture_url?: string | null },
): Promise<void> {
  await db.updateTable("instance").set(change).where("id", "=", id).where("removed_at", "is", null).execute();
}
