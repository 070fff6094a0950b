import type { OwnProfile, ProfileOperations } from "../../session-operations.ts";
import { changeAppState } from "./change-app-state.ts";
import { aboutOf, businessOf, pictureOf } from "./contact-operations.ts";
import type { OperationContext } from "./operation-context.ts";
import { setAbout } from "./set-about.ts";
import { setProfilePicture } from "./set-profile-picture.ts";

export function createProfileOperations(context: OperationContext): ProfileOperations {
  const { pending, sock } = context;
  return {
    get: () => pending.run(() => profileOf(context)),
    setName: (name) => pending.run(() => setName(context, name)),
    setAbout: (text) => pending.run(() => setAbout(sock, text)),
    setPicture: (image) => pending.run(() => setProfilePicture(sock, image)),
  };
}

async function profileOf(context: OperationContext): Promise<OwnProfile> {
  const { sock, identities } = context;
  const { me } = identities;
  const [about, picture_url, business, privacy] = await Promise.all([
    aboutOf(context, me.jid),
    pictureOf(context, me.jid),
    businessOf(sock, me.jid),
    sock.fetchPrivacySettings(true),
  ]);
  return { ...me, about, picture_url, is_business: business !== null, business, privacy };
}

async function setName({ sock }: OperationContext, name: string): Promise<null> {
  await changeAppState(sock, { pushNameSetting: name }, "");
  // Our own change is not echoed; Baileys sends the name that it finds here to everyone.
  const { me } = sock.authState.creds;
  if (me) sock.ev.emit("creds.update", { me: { ...me, name } });
  return null;
}
