import { useTranslations } from "use-intl";
import { StatusDot } from "../../components/status-dot.tsx";

/** The same table as in docs/guides/accounts.md. */
const RIGHTS = {
  messages: ["agent", "admin", "super_admin"],
  crm: ["agent", "admin", "super_admin"],
  data: ["admin", "super_admin"],
  ownSignIn: ["agent", "admin", "super_admin"],
  instances: ["admin", "super_admin"],
  webhooks: ["admin", "super_admin"],
  users: ["admin", "super_admin"],
  administration: ["admin", "super_admin"],
  superAdmins: ["super_admin"],
} as const;

const ROLES = ["agent", "admin", "super_admin"] as const;

export function RolesTable() {
  const t = useTranslations("account.rights");
  const names = useTranslations("settings.roles");
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <table className="table roles">
        <thead>
          <tr>
            <th scope="col">{t("right")}</th>
            {ROLES.map((role) => (
              <th key={role} scope="col">
                {names(role)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(Object.keys(RIGHTS) as (keyof typeof RIGHTS)[]).map((right) => (
            <tr key={right}>
              <th scope="row">{t(right)}</th>
              {ROLES.map((role) => {
                const may = (RIGHTS[right] as readonly string[]).includes(role);
                return (
                  <td key={role}>
                    <span className="permission" data-tone={may ? "success" : "neutral"}>
                      <StatusDot tone={may ? "success" : "neutral"} /> {t(may ? "yes" : "no")}
                    </span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="hint">{t("help")}</p>
    </section>
  );
}
