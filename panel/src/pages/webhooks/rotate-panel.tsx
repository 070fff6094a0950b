import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { CodeSample } from "../../components/code-sample.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { Notice } from "../../components/notice.tsx";
import { PickList } from "../../components/pick-list.tsx";
import type { Webhook } from "./webhooks-queries.ts";

/** How long the previous secret signs too, in seconds. */
const OVERLAPS = ["86400", "604800", "3600", "0"] as const;
type Overlap = (typeof OVERLAPS)[number];

/** A new secret, while the receiver may still check with the old one. */
export function RotatePanel({ id, webhook }: { id: number; webhook: Webhook }) {
  const t = useTranslations("webhooks.rotate");
  const format = useFormatter();
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>("86400");
  const rotate = useMutation({
    mutationFn: async () => {
      const change = { rotate_secret: true, overlap_seconds: Number(overlap) };
      return (await gateway.updateWebhook({ id, webhookId: webhook.id, ...change })).data;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  const [made, setMade] = useState<string>();
  const { previous_secret_until: until } = webhook;
  const show = async () => setMade((await rotate.mutateAsync()).secret);
  return (
    <section className="plate">
      <h3>{t("title")}</h3>
      <p>{t("lead", { secret: webhook.secret })}</p>
      {until !== null && (
        <Notice tone="wait">
          <p>
            {t("overlap", {
              until: format.dateTime(new Date(until), { dateStyle: "medium", timeStyle: "short" }),
            })}
          </p>
        </Notice>
      )}
      {made !== undefined && (
        <>
          <h4>{t("made")}</h4>
          <CodeSample text={made} label={t("made")} />
          <p className="hint">{t("madeHelp")}</p>
        </>
      )}
      <div className="buttons">
        <FormDialog
          label={t("open")}
          title={t("dialog", { name: webhook.name })}
          submitLabel={t("submit")}
          mutation={rotate}
          onSubmit={show}
        >
          <p>{t("help")}</p>
          <PickList<Overlap>
            label={t("howLong")}
            value={overlap}
            options={{ "86400": t("day"), "604800": t("week"), "3600": t("hour"), "0": t("none") }}
            onChange={setOverlap}
          />
          {overlap === "0" && (
            <Notice tone="stop">
              <p>{t("noneHelp")}</p>
            </Notice>
          )}
        </FormDialog>
      </div>
    </section>
  );
}
