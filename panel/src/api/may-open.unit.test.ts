import { expect, test } from "vitest";
import type { Signed } from "./gateway.ts";
import { mayOpen, needOfPage } from "./may-open.ts";

type Kind = Signed["account"]["account_type"];
type Role = Signed["user"]["role"];

function signedInAs(account_type: Kind, role: Role): Signed {
  return {
    account: { id: 1, name: "Shop", account_type, status: "active" },
    user: { id: 1, name: "Ana", email: "ana@example.com", role },
  };
}

test("an agent opens no page for administrators, in whichever account", () => {
  for (const kind of ["owner", "reseller", "client"] as const) {
    const agent = signedInAs(kind, "agent");
    expect([mayOpen("admin", agent), mayOpen("manager", agent), mayOpen("owner", agent)]).toEqual([
      false,
      false,
      false,
    ]);
  }
});

test("an administrator opens what the kind of the account allows", () => {
  const seen = (kind: Kind) =>
    (["admin", "manager", "owner"] as const).filter((need) => mayOpen(need, signedInAs(kind, "admin")));
  expect(seen("client")).toEqual(["admin"]);
  expect(seen("reseller")).toEqual(["admin", "manager"]);
  expect(seen("owner")).toEqual(["admin", "manager", "owner"]);
});

test.each([
  ["/instances", undefined],
  ["/instances/new", "admin"],
  ["/instances/$id/link", undefined],
  ["/instances/$id/webhooks/$webhookId", "admin"],
  ["/account", undefined],
  ["/account/users", "admin"],
  ["/administration", "manager"],
  ["/administration/accounts/$id", "manager"],
  ["/administration/backups", "owner"],
])("the page %s needs %s", (path, need) => {
  expect(needOfPage(path)).toBe(need);
});
