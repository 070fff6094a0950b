import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { type Message, receiptsQuery } from "./conversation-queries.ts";
import { nameOf } from "./person-name.ts";

/** Who in a group has received and read a message. */
export function MessageReceipts({ instanceId, message }: { instanceId: number; message: Message }) {
  const t = useTranslations("conversations");
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({ ...receiptsQuery(instanceId, message.message_id), enabled: isOpen });
  if (!isOpen) return <ActionButton onPress={() => setOpen(true)}>{t("actions.receipts")}</ActionButton>;
  if (error) return <FaultNotice error={error} />;
  if (!data) return <LoadingState />;
  return (
    <div className="stack">
      <p>{t("actions.receiptCount", { delivered: data.delivered, read: data.read })}</p>
      <ul>
        {data.receipts.slice(0, 100).map(({ jid, phone, status }) => (
          <li key={jid}>
            {nameOf({ jid, phone })}: {t(`status.${status}`)}
          </li>
        ))}
      </ul>
    </div>
  );
}
