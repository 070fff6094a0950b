import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ActionButton } from "./action-button.tsx";

/** The button below a list whose next page is not loaded yet. */
export function LoadMore({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  query: Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;
}) {
  const t = useTranslations("common");
  if (!hasNextPage) return null;
  return (
    <div className="buttons">
      <ActionButton isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
        {t("more")}
      </ActionButton>
    </div>
  );
}
