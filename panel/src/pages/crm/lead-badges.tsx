import { useTranslations } from "use-intl";
import { formatPhone, visibleName } from "../../components/formats.tsx";
import { StatusDot } from "../../components/status-dot.tsx";
import type { Lead } from "./crm-queries.ts";

export function OptOutPill({ lead }: { lead: Pick<Lead, "opted_out_at"> }) {
  const t = useTranslations("crm");
  if (lead.opted_out_at === null) return null;
  return (
    <span className="pill" data-tone="info">
      <StatusDot tone="info" />
      {t("optedOut")}
    </span>
  );
}

const SHOWN = 6;

export function TagList({ tags }: { tags: readonly string[] }) {
  const t = useTranslations("crm");
  if (tags.length === 0) return null;
  return (
    <ul className="tag-list" aria-label={t("tags")}>
      {tags.slice(0, SHOWN).map((tag) => (
        <li key={tag}>{tag}</li>
      ))}
      {tags.length > SHOWN && <li>+{tags.length - SHOWN}</li>}
    </ul>
  );
}

/** The name of a contact, otherwise its best identifier. */
export function nameOf({
  name,
  phone,
  email,
  lid,
  id,
}: Pick<Lead, "name" | "phone" | "email" | "lid" | "id">): string {
  return visibleName(name) ?? (phone === null ? (email ?? lid ?? `#${id}`) : formatPhone(phone));
}
