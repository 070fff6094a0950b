import { expect, test } from "vitest";
import { isOwnPath, mayOpen, needOfPage, toSignInSearch } from "./access.ts";
import type { Signed } from "./gateway.ts";
import { isLinked } from "./is-linked.ts";

type Kind = Signed["account"]["account_type"];
type Role = Signed["user"]["role"];

function signedInAs(account_type: Kind, role: Role, instance_ids: number[] | null = null): Signed {
  return {
    account: { id: 1, name: "Shop", account_type, status: "active" },
    user: { id: 1, name: "Ana", email: "ana@example.com", role, instance_ids, must_change_password: false },
  };
}

test("an agent opens no page for administrators in any account", () => {
  for (const kind of ["owner", "reseller", "client"] as const) {
    const agent = signedInAs(kind, "agent");
    expect([mayOpen("admin", agent), mayOpen("manager", agent), mayOpen("owner", agent)]).toEqual([
      false,
      false,
      false,
    ]);
  }
});

test("an agent who may use only some instances, or none, opens no page that concerns the whole account", () => {
  const lists = [null, [7], []];
  expect(lists.map((ids) => mayOpen("account", signedInAs("client", "agent", ids)))).toEqual([
    true,
    false,
    false,
  ]);
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
  ["/crm/import", "account"],
  ["/administration", "manager"],
  ["/administration/accounts/$id", "manager"],
  ["/administration/backups", "owner"],
])("the page %s needs %s", (path, need) => {
  expect(needOfPage(path)).toBe(need);
});

test("the sign-in leads back to the whole address of a page, with its filters", () => {
  expect(toSignInSearch("/crm?search=Ana&stage=Novo")).toEqual({ to: "/crm?search=Ana&stage=Novo" });
});

test("the sign-in leads to the first page without an address and with one of unusual length", () => {
  expect(toSignInSearch("/")).toEqual({});
  expect(toSignInSearch(`/crm?search=${"a".repeat(2_000)}`)).toEqual({});
});

test.each([
  "//evil.example",
  "/\\evil.example",
  "https://evil.example/",
  "javascript:alert(1)",
  "",
  7,
  undefined,
])("the sign-in does not lead to %j, which is no path of the panel", (to) => {
  expect(isOwnPath(to)).toBe(false);
});

const jid = "5511999990004@s.whatsapp.net";

test.each(["reconnecting", "connecting", "disconnected", "error"] as const)(
  "a message waits for a linked instance in the state %s",
  (status) => {
    expect(isLinked({ connected: false, jid, status })).toBe(true);
    expect(isLinked({ connected: false, jid: null, status })).toBe(false);
  },
);

test.each(["logged_out", "banned"] as const)("no message waits for an instance that is %s", (status) => {
  expect(isLinked({ connected: false, jid, status })).toBe(false);
});
