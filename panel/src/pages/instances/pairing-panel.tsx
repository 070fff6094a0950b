import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef } from "react";
import { Form } from "react-aria-components";
import { useFormatter, useLocale, useMessages, useNow, useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { ErrorNotice, Notice, useRequestError } from "../../components/error-notice.tsx";
import { PhoneField } from "../../components/fields/form-field.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { formatPhone } from "../../components/formats.tsx";
import { LoadingState } from "../../components/page-header.tsx";
import { gateway, type Pairing } from "../../gateway/gateway.ts";
import { pairingQuery } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import type { Messages } from "../../i18n/locales.ts";
import { AreaTexts } from "../../shell/area-texts.tsx";

/** The QR or pairing code, redrawn when WhatsApp renews it. */
export function PairingPanel({ id, network }: { id: number; network: "whatsapp" | "sandbox" }) {
  const { data, error, refetch } = useQuery(pairingQuery(id));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data || (data.qr === null && data.pairing_code === null)) return <LoadingState />;
  if (data.pairing_code !== null) return <TypedCode id={id} pairing={data} code={data.pairing_code} />;
  return (
    <div className="linking" data-scan="">
      <ScannedCode pairing={data} />
      <div className="stack">{network === "sandbox" ? <SandboxPhone id={id} /> : <ScanSteps id={id} />}</div>
    </div>
  );
}

function ScannedCode({ pairing }: { pairing: Pairing }) {
  const t = useTranslations("link");
  const { qr, qr_reason, attempt, max_attempts, expires_at } = pairing;
  return (
    <section className="card">
      <h2>{t("scanTitle")}</h2>
      {qr_reason === "refreshed" && (
        <Notice tone="info" isUrgent>
          <p>{t("again")}</p>
        </Notice>
      )}
      {pairing.pairing_error && <PairingErrorNotice error={pairing.pairing_error} />}
      <div className="qr">
        <img src={qr ?? ""} alt={t("qrAlt")} width="304" height="304" />
      </div>
      {expires_at && <Countdown until={expires_at} label="renews" />}
      {attempt !== null && max_attempts !== null && (
        <p className="hint">{t("attempt", { attempt, total: max_attempts })}</p>
      )}
    </section>
  );
}

function TypedCode({ id, pairing, code }: { id: number; pairing: Pairing; code: string }) {
  const t = useTranslations("link");
  const { may } = useAccess();
  const { expires_at, pairing_phone } = pairing;
  return (
    <section className="card">
      <h2>{t("codeTitle")}</h2>
      <p className="pairing-code">{code.replace(/^(\w{4})(\w{4})$/, "$1-$2")}</p>
      {pairing_phone && <p>{t("codeFor", { phone: formatPhone(pairing_phone) })}</p>}
      <p>{t("codeHelp")}</p>
      {pairing.pairing_error && <PairingErrorNotice error={pairing.pairing_error} />}
      {expires_at && <Countdown until={expires_at} label="codeRenews" />}
      <PhoneCodeForm id={id} title={t("otherNumber")} />
      {may("admin") && <BackToQr id={id} />}
    </section>
  );
}

/** A pairing code belongs to its number until the pairing is cancelled. */
function BackToQr({ id }: { id: number }) {
  const t = useTranslations("link");
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async () => {
      await gateway.logoutInstance({ id });
      await gateway.connectInstance({ id, wait_seconds: 5 });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  return (
    <>
      <ErrorNotice error={change.error} />
      <div className="buttons">
        <ActionButton isPending={change.isPending} onPress={() => change.mutate()}>
          {t("withQr")}
        </ActionButton>
      </div>
    </>
  );
}

function ScanSteps({ id }: { id: number }) {
  const t = useTranslations("link.steps");
  return (
    <section className="card">
      <ol className="steps">
        <li>{t("open")}</li>
        <li>{t("devices")}</li>
        <li>{t("scan")}</li>
      </ol>
      <PhoneCodeForm id={id} />
    </section>
  );
}

function SandboxPhone({ id }: { id: number }) {
  const t = useTranslations("link");
  const queries = useQueryClient();
  const scan = useMutation({
    mutationFn: () => gateway.sandboxScan({ id }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances"] }),
  });
  return (
    <section className="card">
      <h2>{t("sandboxTitle")}</h2>
      <p>{t("sandboxHelp")}</p>
      <ErrorNotice error={scan.error} />
      <div className="buttons">
        <ActionButton kind="primary" isPending={scan.isPending} onPress={() => scan.mutate()}>
          {t("sandboxScan")}
        </ActionButton>
      </div>
    </section>
  );
}

/** Time until the code changes. Screen readers hear the change, not each second. */
function Countdown({ until, label }: { until: string; label: "renews" | "codeRenews" }) {
  const t = useTranslations("link");
  const now = useNow({ updateInterval: 1_000 });
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now.getTime()) / 1_000));
  const whole = useRef({ until, seconds });
  if (whole.current.until !== until) whole.current = { until, seconds };
  const text = t(label, { seconds });
  return (
    <div aria-live="off">
      <progress
        className="countdown"
        max={Math.max(1, whole.current.seconds)}
        value={seconds}
        aria-label={text}
      />
      <p className="hint">{text}</p>
    </div>
  );
}

type PairingError = NonNullable<Pairing["pairing_error"]>;
type PairingErrorCode = keyof Messages["pairing"];

export function PairingErrorNotice({ error }: { error: PairingError }) {
  const t = useTranslations("link");
  return (
    <Notice tone="danger" title={t("failed")} isUrgent>
      <AreaTexts area="pairing">
        <ErrorText error={error} />
      </AreaTexts>
    </Notice>
  );
}

/** Codes for which the gateway's message has details. */
const SAYS_MORE = new Set<string>(["pairing_unavailable", "client_outdated"] satisfies PairingErrorCode[]);

/** The panel's text for a known code, and the gateway's message if the code is unknown or has details. */
function ErrorText({ error: { code, message, action, retry_at } }: { error: PairingError }) {
  const t = useTranslations("pairing");
  const format = useFormatter();
  const locale = useLocale();
  const { pairing } = useMessages() as Messages;
  const saysMore = SAYS_MORE.has(code);
  if (!(code in pairing) || (saysMore && locale === "en"))
    return (
      <>
        <p>{message}</p>
        <p>{action}</p>
      </>
    );
  const known = code as PairingErrorCode;
  const time = retry_at
    ? format.dateTime(new Date(retry_at), { dateStyle: "short", timeStyle: "short" })
    : "";
  return (
    <>
      <p>{t(`${known}.message`)}</p>
      <p>{t(`${known}.action`, { time })}</p>
      {saysMore && (
        <p className="hint" lang="en">
          {message} {action}
        </p>
      )}
    </>
  );
}

/** For a phone that cannot scan this screen, for example because it shows this page. */
export function PhoneCodeForm({ id, title }: { id: number; title?: string }) {
  const t = useTranslations("link");
  const queries = useQueryClient();
  const connect = useMutation({
    mutationFn: (phone: string) => gateway.connectInstance({ id, phone, wait_seconds: 5 }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    connect.mutate(readForm(event.currentTarget).phone ?? "");
  };
  const { fields } = useRequestError(connect.error);
  return (
    <details>
      <summary>{title ?? t("withCode")}</summary>
      <Form className="stack" onSubmit={submit} validationErrors={fields}>
        {!fields.phone && <ErrorNotice error={connect.error} />}
        <PhoneField name="phone" label={t("phone")} hint={t("phoneHint")} autoComplete="tel" />
        <div className="buttons">
          <ActionButton type="submit" isPending={connect.isPending}>
            {t("getCode")}
          </ActionButton>
        </div>
      </Form>
    </details>
  );
}
