import { Link, Outlet, useLocation, useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { AdminOnly } from "../../components/admin-only.tsx";
import { AreaTexts } from "../../shell/area-texts.tsx";
import "./webhooks.css";

/** Tabs: webhooks, events, attempts. */
export function WebhooksFrame() {
  return (
    <AreaTexts area="webhooks">
      <AdminOnly>
        <Pages />
      </AdminOnly>
    </AreaTexts>
  );
}

function Pages() {
  const t = useTranslations("webhooks");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { pathname } = useLocation();
  // The page of one webhook belongs to the first tab.
  const isOfOne = /\/webhooks\/(new$|\d)/.test(pathname);
  return (
    <>
      <nav className="section-links" aria-label={t("navigation")}>
        <Link
          to="/instances/$id/webhooks"
          params={{ id }}
          activeOptions={{ exact: true, includeSearch: false }}
          {...(isOfOne && { "aria-current": "page" as const })}
        >
          {t("addresses")}
        </Link>
        <Link to="/instances/$id/webhooks/events" params={{ id }} activeOptions={{ includeSearch: false }}>
          {t("eventsTitle")}
        </Link>
        <Link to="/instances/$id/webhooks/attempts" params={{ id }} activeOptions={{ includeSearch: false }}>
          {t("attemptsTitle")}
        </Link>
      </nav>
      <Outlet />
    </>
  );
}
