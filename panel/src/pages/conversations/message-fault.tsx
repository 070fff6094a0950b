import { useMutation, useQuery } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { useFaultText } from "../../components/use-fault-text.ts";
import { useGatewayWords } from "../../components/use-gateway-words.ts";
import { type Message, messageErrorQuery } from "./conversation-queries.ts";
import { kindOf, summarise } from "./kinds/kinds.ts";
import type { Outgoing } from "./kinds/message-kind.ts";

interface MessageFaultProps {
  message: Message;
  instanceId: number;
  onResend(message: Outgoing): void;
}

/** Why a message was not sent, and the button that sends it once more. */
export function MessageFault({ message, instanceId, onResend }: MessageFaultProps) {
  const t = useTranslations("conversations");
  const textOf = useFaultText();
  const words = useGatewayWords();
  const { data } = useQuery(messageErrorQuery(instanceId, message.message_id));
  const { resend } = kindOf(message);
  const again = useMutation({
    mutationFn: async () => {
      const shown = message.text ?? summarise(message, t);
      if (resend) onResend({ shown, post: await resend(message, instanceId) });
    },
  });
  return (
    <div className="message-fault">
      <p>{data ? words.failure(data).sentence : t(`status.${message.status}`)}</p>
      {again.error && <p className="fault">{textOf(again.error)}</p>}
      {resend && (
        <ActionButton isPending={again.isPending} onPress={() => again.mutate()}>
          {t("thread.sendAgain")}
        </ActionButton>
      )}
    </div>
  );
}
