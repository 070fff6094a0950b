import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { healthQuery, type Monitor } from "./administration-queries.ts";

const KNOWN = ["session", "webhook", "campaign", "integration", "backup", "privacy"] as const;

/** Pending jobs by kind, with their delay. */
export function QueueTable({ queues }: Pick<Monitor, "queues">) {
  const t = useTranslations("administration.queues");
  const format = useFormatter();
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <p className="hint">{t("help")}</p>
      {queues.length === 0 ? (
        <p>{t("empty")}</p>
      ) : (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t("kind")}</th>
              <th scope="col">{t("waiting")}</th>
              <th scope="col">{t("due")}</th>
              <th scope="col">{t("late")}</th>
            </tr>
          </thead>
          <tbody>
            {queues.map(({ name, waiting, due, oldest_due_seconds: late }) => {
              const known = KNOWN.find((one) => one === name);
              return (
                <tr key={name}>
                  <th scope="row">{known ? t(`kinds.${known}`) : <code>{name}</code>}</th>
                  <td>{format.number(waiting)}</td>
                  <td>{format.number(due)}</td>
                  <td>{late === null ? t("onTime") : t("seconds", { seconds: late })}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Whether the gateway works and is ready for production. */
export function HealthSummary() {
  const t = useTranslations("administration.system");
  const { data, error, refetch } = useQuery(healthQuery);
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const count = data.production_blockers.length;
  return (
    <Notice tone={!data.ready ? "danger" : count > 0 ? "warning" : "success"}>
      <p>
        {!data.ready ? t("notReady") : count > 0 ? t("blocked", { count }) : t("allWell")}{" "}
        <Link to="/administration/system">{t("open")}</Link>
      </p>
    </Notice>
  );
}
