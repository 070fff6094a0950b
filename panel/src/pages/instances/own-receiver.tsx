import "./instances.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { LoadingState } from "../../components/page-header.tsx";
import { StatusDot, type Tone } from "../../components/status-dot.tsx";
import { canCheckSignatures, checkSignature } from "../../gateway/check-signature.ts";
import { gateway, type Instance } from "../../gateway/gateway.ts";
import { type ReceivedWebhook, type Receiver, receiverQuery } from "./instances-queries.ts";

/** Receivers that the user closed stay closed until the page is left. */
const closedByUser = new Set<number>();

/** The built-in receiver: shows signed webhooks and verifies them in the browser. */
export function OwnReceiver({ row: { id, network } }: { row: Instance }) {
  const t = useTranslations("receiver");
  const { data, error, isPending, refetch } = useQuery(receiverQuery(id));
  const isClosed = error instanceof WaygateError && error.status === 404;
  return (
    <section className="card" aria-label={t("title")}>
      <div>
        <h2>{t("title")}</h2>
        <p className="hint">{t("lead")}</p>
      </div>
      {error && !isClosed && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {isClosed && <OpenReceiver id={id} isAutomatic={network === "sandbox"} />}
      {data && !isClosed && <OpenedReceiver id={id} receiver={data} />}
    </section>
  );
}

/** Opens automatically in the sandbox, which carries no real data. */
function OpenReceiver({ id, isAutomatic }: { id: number; isAutomatic: boolean }) {
  const t = useTranslations("receiver");
  const queries = useQueryClient();
  const open = useMutation({
    mutationFn: () => gateway.openReceiver({ id }),
    onSuccess: () => queries.resetQueries({ queryKey: ["instances", id, "receiver"] }),
  });
  const { mutate, isIdle } = open;
  const [isClosedByUser] = useState(() => closedByUser.has(id));
  const opensItself = isAutomatic && isIdle && !isClosedByUser;
  useEffect(() => {
    if (opensItself) mutate();
  }, [opensItself, mutate]);
  if (opensItself || open.isPending) return <LoadingState />;
  return (
    <div className="stack">
      <ErrorNotice error={open.error} />
      <p>{t("closed")}</p>
      <div className="buttons">
        <ActionButton isPending={open.isPending} onPress={() => open.mutate()}>
          {t("open")}
        </ActionButton>
      </div>
    </div>
  );
}

function OpenedReceiver({ id, receiver }: { id: number; receiver: Receiver }) {
  const t = useTranslations("receiver");
  const queries = useQueryClient();
  const close = useMutation({
    mutationFn: () => gateway.deleteWebhook({ id, webhookId: receiver.webhook_id }),
    onMutate: () => closedByUser.add(id),
    onSuccess: () => queries.resetQueries({ queryKey: ["instances", id, "receiver"] }),
  });
  return (
    <div className="stack">
      {receiver.received.length === 0 && <p role="status">{t("waiting")}</p>}
      {receiver.received.length > 0 && (
        <ul className="events" aria-label={t("list")}>
          {receiver.received.map((webhook) => (
            <ReceivedItem key={webhook.id} webhook={webhook} secret={receiver.secret} />
          ))}
        </ul>
      )}
      <details>
        <summary>{t("secret")}</summary>
        <p className="hint">{t("secretHelp")}</p>
        <CodeSample text={receiver.secret} label={t("secret")} />
      </details>
      <ErrorNotice error={close.error} />
      <div className="buttons">
        <ActionButton isPending={close.isPending} onPress={() => close.mutate()}>
          {t("close")}
        </ActionButton>
        <span className="hint">{t("closeHelp")}</span>
      </div>
    </div>
  );
}

function ReceivedItem({ webhook, secret }: { webhook: ReceivedWebhook; secret: string }) {
  const t = useTranslations("receiver");
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span className="code">{webhook.event}</span>
          <SignatureMark webhook={webhook} secret={secret} />
          <span className="hint">
            <RelativeTime at={webhook.received_at} />
          </span>
        </summary>
        {isOpen && (
          <div className="stack">
            <h3>{t("headers")}</h3>
            <dl className="headers">
              {sortHeaders(webhook.headers).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            <h3>{t("body")}</h3>
            {webhook.body === null ? (
              <p className="hint">{t("bodyGone")}</p>
            ) : (
              <CodeSample text={prettify(webhook.body)} label={t("bodyOf", { event: webhook.event })} />
            )}
          </div>
        )}
      </details>
    </li>
  );
}

const TONES = { valid: "success", invalid: "danger", unchecked: "neutral" } as const satisfies Record<
  string,
  Tone
>;

/** The result of this page's verification. */
function SignatureMark({
  webhook: { id, headers, body },
  secret,
}: {
  webhook: ReceivedWebhook;
  secret: string;
}) {
  const t = useTranslations("receiver");
  const { data } = useQuery({
    queryKey: ["signature", id, secret, body],
    queryFn: async () => {
      if (body === null || !canCheckSignatures()) return "unchecked" as const;
      const signature = headers["x-waygate-signature"] ?? "";
      const { isGenuine } = await checkSignature({ secret, body, eventId: "", timestamp: "", signature });
      return isGenuine ? ("valid" as const) : ("invalid" as const);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data === undefined) return null;
  return (
    <span className="pill" data-tone={TONES[data]}>
      <StatusDot tone={TONES[data]} />
      {t(data)}
    </span>
  );
}

/** Puts the headers that a receiver checks first at the top. */
function sortHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  const rank = (name: string) =>
    `${name.includes("signature") ? 0 : 1}${name.startsWith("x-waygate") ? 0 : 1}${name}`;
  return Object.entries(headers).sort(([one], [other]) => rank(one).localeCompare(rank(other)));
}

/** For display only: the signature covers the original text. */
function prettify(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
