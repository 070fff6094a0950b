import type { Signed } from "./gateway.ts";

/**
 * Who may open a page: who may use all instances of the account, an administrator, one who manages accounts, or an
 * administrator of the owner's account.
 */
export type Need = "account" | "admin" | "manager" | "owner";

export function mayOpen(need: Need, { account, user }: Signed): boolean {
  if (need === "account") return user.instance_ids === null;
  if (user.role === "agent") return false;
  if (need === "owner") return account.account_type === "owner";
  return need === "admin" || account.account_type !== "client";
}

/** The first match counts, so that a page stands before the pages around it. */
const NEEDS: readonly (readonly [path: RegExp, need: Need])[] = [
  [/^\/instances\/new$/, "admin"],
  [/^\/instances\/\$id\/(webhooks|integrations|settings)/, "admin"],
  [/^\/account\/(users|keys)/, "admin"],
  [/^\/crm\/import$/, "account"],
  [/^\/administration\/(backups|system)/, "owner"],
  [/^\/administration/, "manager"],
];

/** What a page needs, by the path of its route; undefined: a sign-in is enough. */
export function needOfPage(path: string): Need | undefined {
  return NEEDS.find(([pattern]) => pattern.test(path))?.[1];
}

const LONGEST_PATH = 2_000;

/** Only a path of the panel, with its search: a link must not lead a signed-in user elsewhere. */
export function isOwnPath(to: unknown): to is string {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && to.length < LONGEST_PATH;
}

/** The search of the sign-in page, so that it leads back to `href`, an address of the panel. */
export function toSignInSearch(href: string): { to?: string } {
  return href !== "/" && isOwnPath(href) ? { to: href } : {};
}
