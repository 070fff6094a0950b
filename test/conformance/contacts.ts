import { describe, expect, it } from "vitest";
import type { Jid } from "../../src/network/driver.ts";
import { phoneJid } from "../../src/network/jid.ts";
import { digits, done, JPEG, LID, refused } from "./answers.ts";
import { eventually } from "./listener.ts";
import type { OperationStory } from "./operation-story.ts";

/** The part of the suite about contacts. */
export function describeContacts(story: OperationStory): void {
  describe("contacts", () => {
    it("reports which numbers are on the network, one result for each number and in order", async () => {
      const { number } = await story.world.addPerson();
      const nobody = digits(story.stage.unregisteredJid);
      const found = done(await story.session.contacts.check([nobody, story.contact, number, story.contact]));
      expect(found.map((one) => [one.number, one.jid])).toEqual([
        [nobody, null],
        [story.contact, story.stage.contact.jid],
        [number, phoneJid(number)],
        [story.contact, story.stage.contact.jid],
      ]);
      expect(found.map(({ lid }) => lid)).toEqual([null, LID, LID, LID]);
      expect(done(await story.session.contacts.check([]))).toEqual([]);
    });

    it("returns the public profile of a contact", async () => {
      const { number, jid } = await story.world.addPerson({ about: "At sea", picture: JPEG });
      const info = done(await story.session.contacts.info(jid));
      expect(info).toMatchObject({ jid, lid: LID, phone: number, about: "At sea", is_business: false });
      expect(info.picture_url).toMatch(/^https?:\/\//);
      const plain = await story.world.addPerson();
      expect(done(await story.session.contacts.info(plain.jid))).toMatchObject({
        picture_url: null,
        business: null,
        verified_name: null,
      });
    });

    it("accepts the LID of a contact too", async () => {
      const { number, jid } = await story.world.addPerson({ about: "By LID" });
      const [found] = done(await story.session.contacts.check([number]));
      const info = done(await story.session.contacts.info(found?.lid as Jid));
      expect(info).toMatchObject({ jid, lid: found?.lid, phone: number, about: "By LID" });
    });

    it("refuses a profile request for a number that is not on the network", async () => {
      expect(await story.session.contacts.info(story.stage.unregisteredJid)).toMatchObject(
        refused("RECIPIENT_NOT_FOUND"),
      );
      expect(await story.session.contacts.setBlocked(story.stage.unregisteredJid, true)).toMatchObject(
        refused("RECIPIENT_NOT_FOUND"),
      );
    });

    it("blocks and unblocks a contact by any of its addresses", async () => {
      const one = await story.world.addPerson();
      const two = await story.world.addPerson();
      const [checked] = done(await story.session.contacts.check([two.number]));
      done(await story.session.contacts.setBlocked(one.jid, true));
      done(await story.session.contacts.setBlocked(checked?.lid as Jid, true));
      expect((await story.world.phone()).blocked.sort()).toEqual([one.number, two.number].sort());
      expect(done(await story.session.contacts.blocked()).sort()).toEqual([one.jid, two.jid].sort());
      done(await story.session.contacts.setBlocked(two.jid, false));
      done(await story.session.contacts.setBlocked(one.jid, false));
      expect(done(await story.session.contacts.blocked())).toEqual([]);
    });

    it("reports the names in the phone's address book, and reports them again on request", async () => {
      const { number, jid } = await story.world.addPerson();
      const named = (nth: number) =>
        eventually(() => {
          const found = story.listener.all("contact_updated").filter((event) => event.contact.name === "Zé");
          expect(found.length).toBeGreaterThanOrEqual(nth);
          return found.at(-1)?.contact;
        });
      await story.world.nameContact(number, "Zé");
      expect(await named(1)).toMatchObject({ jid, phone: number, lid: LID });
      const before = story.listener
        .all("contact_updated")
        .filter((event) => event.contact.name === "Zé").length;
      done(await story.session.contacts.synchronise());
      expect(await named(before + 1)).toMatchObject({ jid, phone: number });
    });
  });
}
