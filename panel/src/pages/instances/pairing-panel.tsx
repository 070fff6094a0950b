import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useNow, useTranslations } from "use-intl";
import { gateway, type Pairing } from "../../api/gateway.ts";
import { pairingQuery } from "../../api/queries.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice, Notice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/page-head.tsx";
import { PairingFault } from "./pairing-fault.tsx";
import { PhoneCodeForm } from "./phone-code-form.tsx";

/** The code to scan or to type; it redraws itself as the network renews it. */
export function PairingPanel({ id, network }: { id: number; network: "whatsapp" | "sandbox" }) {
  const { data, error, refetch } = useQuery(pairingQuery(id));
  if (error) return <FaultNotice error={error} onRetry={() => void refetch()} />;
  if (!data || (data.qr === null && data.pairing_code === null)) return <LoadingState />;
  if (data.pairing_code !== null) return <TypedCode pairing={data} code={data.pairing_code} />;
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
    <section className="plate">
      <h2>{t("scanTitle")}</h2>
      {qr_reason === "refreshed" && (
        <Notice tone="note" isUrgent>
          <p>{t("again")}</p>
        </Notice>
      )}
      {pairing.pairing_error && <PairingFault fault={pairing.pairing_error} />}
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

function TypedCode({ pairing, code }: { pairing: Pairing; code: string }) {
  const t = useTranslations("link");
  const { expires_at } = pairing;
  return (
    <section className="plate">
      <h2>{t("codeTitle")}</h2>
      <p className="pairing-code">{code.replace(/^(\w{4})(\w{4})$/, "$1-$2")}</p>
      <p>{t("codeHelp")}</p>
      {pairing.pairing_error && <PairingFault fault={pairing.pairing_error} />}
      {expires_at && <Countdown until={expires_at} label="codeRenews" />}
    </section>
  );
}

function ScanSteps({ id }: { id: number }) {
  const t = useTranslations("link.steps");
  return (
    <section className="plate">
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
    <section className="plate">
      <h2>{t("sandboxTitle")}</h2>
      <p>{t("sandboxHelp")}</p>
      <FaultNotice error={scan.error} />
      <div className="buttons">
        <ActionButton kind="main" isPending={scan.isPending} onPress={() => scan.mutate()}>
          {t("sandboxScan")}
        </ActionButton>
      </div>
    </section>
  );
}

/** Time left until a code changes. A screen reader hears the change itself, not each second. */
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
