import { useMatches } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { toFault } from "../api/to-fault.ts";
import { LinkButton } from "./action-button.tsx";

/** Leads to the page that links a phone, if the request failed because the instance of the page has none. */
export function LinkRemedy({ error }: { error: unknown }) {
  const t = useTranslations("connection");
  const id = useMatches({ select: (matches) => instanceOf(matches.at(-1)) });
  if (id === undefined || toFault(error).text !== "notConnected") return null;
  return (
    <LinkButton to="/instances/$id/link" params={{ id }}>
      {t("toLink")}
    </LinkButton>
  );
}

interface Page {
  fullPath: string;
  params: object;
}

/** Elsewhere `$id` is not that of an instance. */
function instanceOf(page: Page | undefined): number | undefined {
  const { id }: { id?: number } = page?.fullPath.startsWith("/instances/$id") ? page.params : {};
  return id;
}
