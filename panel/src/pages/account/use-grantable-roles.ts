import { useTranslations } from "use-intl";
import { useAccess } from "../../api/use-access.ts";
import { ROLES } from "./account-queries.ts";

/** The roles that the signed-in user may give to others, with their names. */
export function useGrantableRoles(): Record<string, string> {
  const t = useTranslations("settings.roles");
  const isSuper = useAccess().signed?.user.role === "super_admin";
  const roles = ROLES.filter((role) => isSuper || role !== "super_admin");
  return Object.fromEntries(roles.map((role) => [role, t(role)]));
}
