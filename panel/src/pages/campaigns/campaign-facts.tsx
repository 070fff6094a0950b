import { useQuery } from "@tanstack/react-query";
import { useFormatter, useTranslations } from "use-intl";
import { Facts } from "../../components/facts.tsx";
import { type Campaign, senderQuery } from "./campaigns-queries.ts";
import { useAccountZone } from "./use-account-zone.ts";

/** The settings of the campaign, with its times in its zone. */
export function CampaignFacts({ campaign }: { campaign: Campaign }) {
  const t = useTranslations();
  const format = useFormatter();
  const senders = useQuery(senderQuery);
  const account = useAccountZone();
  const { scheduled_at, quiet_hours, daily_limit, stop_on_error_rate: stop, consent_purpose } = campaign;
  const zone = quiet_hours?.tz ?? account.zone;
  const none = t("common.none");
  const time = (at: string | null) =>
    at === null
      ? none
      : format.dateTime(new Date(at), { dateStyle: "medium", timeStyle: "short", timeZone: zone });
  const sender = senders.data?.find(({ id }) => id === campaign.instance_id)?.name;
  return (
    <section className="plate" aria-label={t("campaigns.settings")}>
      <h2>{t("campaigns.settings")}</h2>
      <Facts
        facts={[
          { name: t("campaigns.sender"), value: sender ?? none },
          { name: t("campaigns.scheduledAt"), value: time(scheduled_at) },
          {
            name: t("campaigns.hasQuietHours"),
            value: quiet_hours === null ? none : `${quiet_hours.start}–${quiet_hours.end}`,
          },
          { name: t("campaigns.zone"), value: zone.replaceAll("_", " ") },
          {
            name: t("campaigns.pauses"),
            value: t("campaigns.pausesValue", {
              from: campaign.min_delay_ms / 1_000,
              to: campaign.max_delay_ms / 1_000,
            }),
          },
          {
            name: t("campaigns.dailyLimit"),
            value: daily_limit === null ? none : format.number(daily_limit),
          },
          {
            name: t("campaigns.stopPercent"),
            value: stop === null ? none : format.number(stop, { style: "percent" }),
          },
          { name: t("campaigns.consentPurpose"), value: consent_purpose ?? none },
          { name: t("campaigns.startedAt"), value: time(campaign.started_at) },
          { name: t("campaigns.endedAt"), value: time(campaign.completed_at) },
        ]}
      />
    </section>
  );
}
