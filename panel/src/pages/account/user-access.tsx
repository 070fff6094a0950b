import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { useRequestError } from "../../components/error-notice.tsx";
import { CheckList } from "../../components/fields/check-field.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { LoadingState } from "../../components/page-header.tsx";
import { rowsOf } from "../../components/paged-list.tsx";
import { instancesQuery } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { senderQuery } from "../campaigns/campaigns-queries.ts";
import { type AccountUser, ROLES, type Role } from "./account-queries.ts";

const ALL = "all";

interface UserAccessProps {
  user?: AccountUser;
  hint?: string;
  /** Error of the request that sends the form. */
  error: unknown;
}

/** The role of a user and, for an agent, the instances. `readAccess` reads the form. */
export function UserAccess({ user, hint, error }: UserAccessProps) {
  const t = useTranslations("account.users");
  const roles = useGrantableRoles();
  const [role, setRole] = useState<string>(user?.role ?? "agent");
  const [ids, setIds] = useState(user?.instance_ids?.map(String) ?? null);
  const fieldError = useRequestError(error).fields.instance_ids;
  return (
    <>
      <PickList<string>
        label={t("role")}
        {...(hint && { hint })}
        value={role}
        options={roles}
        onChange={setRole}
      />
      <input type="hidden" name="role" value={role} />
      {role === "agent" && (
        <>
          <PickList<string>
            label={t("reach")}
            hint={t("reachHint")}
            value={ids === null ? ALL : "some"}
            options={{ [ALL]: t("reachAll"), some: t("reachSome") }}
            onChange={(next) => setIds(next === ALL ? null : [])}
          />
          {ids !== null && <InstanceChoice value={ids} onChange={setIds} />}
          {fieldError !== undefined && <p className="field-error">{fieldError}</p>}
          <input type="hidden" name="instance_ids" value={ids === null ? ALL : ids.join(",")} />
        </>
      )}
    </>
  );
}

function InstanceChoice({ value, onChange }: { value: string[]; onChange(value: string[]): void }) {
  const t = useTranslations("account.users");
  const { data } = useQuery(senderQuery);
  if (!data) return <LoadingState />;
  const options = data.map(({ id, name }) => ({ value: String(id), text: name }));
  return <CheckList label={t("reachList")} options={options} value={value} onChange={onChange} />;
}

/** Reads the fields of `UserAccess`. */
export function readAccess({ role, instance_ids }: Partial<Record<string, string>>) {
  const ids = instance_ids === ALL ? null : instance_ids?.split(",").filter(Boolean).map(Number);
  return { role: role as Role, instance_ids: ids };
}

/** The instances of an agent with restricted access. */
export function UserInstances({ user: { instance_ids: ids } }: { user: AccountUser }) {
  const t = useTranslations("account.users");
  const { data } = useInfiniteQuery({ ...instancesQuery, enabled: ids !== null });
  if (ids === null) return null;
  const names = new Map(rowsOf(data).map(({ id, name }) => [id, name]));
  const instances = ids.map((id) => names.get(id) ?? String(id)).join(", ");
  return <p className="hint">{instances === "" ? t("reachesNone") : t("reaches", { instances })}</p>;
}

/** The roles that the signed-in user may assign, with their names. */
function useGrantableRoles(): Record<string, string> {
  const t = useTranslations("settings.roles");
  const isSuper = useAccess().signed?.user.role === "super_admin";
  const roles = ROLES.filter((role) => isSuper || role !== "super_admin");
  return Object.fromEntries(roles.map((role) => [role, t(role)]));
}
