import type { Signed } from "./gateway.ts";

/**
 * Who may open a page: a user with all instances, an administrator, a manager of accounts, or an administrator of the
 * owner's account.
 */
export type Need = "account" | "admin" | "manager" | "owner";

export function mayOpen(need: Need, { account, user }: Signed): boolean {
  if (need === "account") return user.instance_ids === null;
  if (user.role === "agent") return false;
  if (need === "owner") return account.account_type === "owner";
  return need === "admin" || account.account_type !== "client";
}

/** The first match counts, so specific paths come before their parents. */
const NEEDS: readonly (readonly [path: RegExp, need: Need])[] = [
  [/^\/instances\/new$/, "admin"],
  [/^\/instances\/\$id\/(webhooks|integrations|settings)/, "admin"],
  [/^\/account\/(users|keys)/, "admin"],
  [/^\/crm\/import$/, "account"],
  [/^\/administration\/(backups|system)/, "owner"],
  [/^\/administration/, "manager"],
];

/** What the page at a route path requires; undefined if a sign-in is enough. */
export function needOfPage(path: string): Need | undefined {
  return NEEDS.find(([pattern]) => pattern.test(path))?.[1];
}

const LONGEST_PATH = 2_000;

/** Accepts only paths of the panel, so that a link cannot redirect a user to another site. */
export function isOwnPath(to: unknown): to is string {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && to.length < LONGEST_PATH;
}

/** Search parameters of the sign-in page that lead back to `href`. */
export function toSignInSearch(href: string): { to?: string } {
  return href !== "/" && isOwnPath(href) ? { to: href } : {};
}
