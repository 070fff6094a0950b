import { useFormatter, useLocale, useMessages, useTranslations } from "use-intl";
import type { Pairing } from "../../api/gateway.ts";
import { Notice } from "../../components/fault-notice.tsx";
import { AreaTexts } from "../../i18n/area-texts.tsx";
import type { Messages } from "../../i18n/locales.ts";

type Fault = NonNullable<Pairing["pairing_error"]>;
type FaultCode = keyof Messages["pairing"];

/** Why an attempt to link failed, and what helps. */
export function PairingFault({ fault }: { fault: Fault }) {
  const t = useTranslations("link");
  return (
    <Notice tone="stop" title={t("failed")} isUrgent>
      <AreaTexts area="pairing">
        <FaultWords fault={fault} />
      </AreaTexts>
    </Notice>
  );
}

/** Codes whose words from the gateway name what was the matter this time. */
const SAYS_MORE = new Set<string>(["pairing_unavailable", "client_outdated"] satisfies FaultCode[]);

/** The gateway's own words for a code that the panel does not know, and where they say more than the panel's. */
function FaultWords({ fault: { code, message, action, retry_at } }: { fault: Fault }) {
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
  const known = code as FaultCode;
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
