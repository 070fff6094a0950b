import type { Signed } from "./gateway.ts";

/** Who may open a page: an administrator, one who manages accounts, or an administrator of the owner's account. */
export type Need = "admin" | "manager" | "owner";

export function mayOpen(need: Need, { account, user }: Signed): boolean {
  if (user.role === "agent") return false;
  if (need === "owner") return account.account_type === "owner";
  return need === "admin" || account.account_type !== "client";
}

/** The first match counts, so that a page stands before the pages around it. */
const NEEDS: readonly (readonly [path: RegExp, need: Need])[] = [
  [/^\/instances\/new$/, "admin"],
  [/^\/instances\/\$id\/(webhooks|integrations|settings)/, "admin"],
  [/^\/account\/(users|keys)/, "admin"],
  [/^\/administration\/(backups|system)/, "owner"],
  [/^\/administration/, "manager"],
];

/** What a page needs, by the path of its route; undefined: a sign-in is enough. */
export function needOfPage(path: string): Need | undefined {
  return NEEDS.find(([pattern]) => pattern.test(path))?.[1];
}
