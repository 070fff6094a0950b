import { describe, expect, it } from "vitest";
import { phoneJid } from "../../src/network/jid.ts";
import { done, JPEG, LID } from "./answers.ts";
import type { OperationStory } from "./operation-story.ts";

/** The part of the suite about its own profile. */
export function describeProfile(story: OperationStory): void {
  describe("own profile", () => {
    it("returns its identity and its visible profile", async () => {
      const me = done(await story.session.profile.get());
      expect(me).toMatchObject({
        phone: story.phone,
        jid: phoneJid(story.phone),
        lid: LID,
        is_business: false,
      });
      expect(me.privacy).toMatchObject({ last: expect.any(String), groupadd: expect.any(String) });
    });

    it("changes its name and its about text", async () => {
      done(await story.session.profile.setName("Loja São João"));
      done(await story.session.profile.setAbout("Open until six"));
      expect(await story.world.phone()).toMatchObject({ name: "Loja São João", about: "Open until six" });
      expect(done(await story.session.profile.get())).toMatchObject({
        push_name: "Loja São João",
        about: "Open until six",
      });
      done(await story.session.profile.setAbout(""));
      expect(done(await story.session.profile.get()).about).toBeNull();
    });

    it("changes its picture and removes it", async () => {
      done(await story.session.profile.setPicture(JPEG));
      expect((await story.world.phone()).has_picture).toBe(true);
      expect(done(await story.session.profile.get()).picture_url).toMatch(/^https?:\/\//);
      done(await story.session.profile.setPicture(null));
      expect((await story.world.phone()).has_picture).toBe(false);
      expect(done(await story.session.profile.get()).picture_url).toBeNull();
    });
  });
}
