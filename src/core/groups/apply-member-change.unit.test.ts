import { describe, expect, test } from "vitest";
import { applyMemberChange } from "./save-groups.ts";

const ana = { jid: "1@s.whatsapp.net", lid: "11@lid", phone: "1", admin: "superadmin" as const };
const bia = { jid: "2@s.whatsapp.net", lid: null, phone: "2", admin: null };
const hidden = { jid: "33@lid", lid: "33@lid", phone: null, admin: null };

describe("a list of group members", () => {
  test("adds and removes members", () => {
    const added = applyMemberChange([ana], { action: "add", who: [bia, hidden] });
    expect(added).toEqual([ana, bia, hidden]);
    expect(applyMemberChange(added, { action: "remove", who: [bia] })).toEqual([ana, hidden]);
  });

  test("identifies a member by phone or by LID", () => {
    const byLid = { jid: "11@lid", lid: "11@lid", phone: null, admin: null };
    expect(applyMemberChange([ana, bia], { action: "remove", who: [byLid] })).toEqual([bia]);
    const added = { jid: "3@s.whatsapp.net", lid: "33@lid", phone: "3", admin: null };
    expect(applyMemberChange([hidden], { action: "add", who: [added] })).toEqual([added]);
  });

  test("keeps an address that is missing when a member is added again", () => {
    const again = { ...ana, lid: null, admin: null };
    expect(applyMemberChange([ana], { action: "add", who: [again] })).toEqual([{ ...ana, admin: null }]);
  });

  test("promotes and demotes members, but adds no unknown person by a promotion", () => {
    const promoted = applyMemberChange([ana, bia], { action: "promote", who: [ana, bia, hidden] });
    expect(promoted).toEqual([ana, { ...bia, admin: "admin" }]);
    expect(applyMemberChange(promoted, { action: "demote", who: [bia] })).toEqual([ana, bia]);
  });
});
