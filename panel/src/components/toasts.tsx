import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "./action-button.tsx";
import type { Tone } from "./status-dot.tsx";

interface Message {
  text: string;
  tone: Tone;
  /** Reverts the action that the message reports. */
  undo?: () => void;
}

const SHOWN_MS = 8_000;
const queue = new ToastQueue<Message>({ maxVisibleToasts: 3 });

/** Reports the result of an action of the user. */
export function showToast(text: string, tone: Tone = "success", undo?: () => void): void {
  queue.add({ text, tone, ...(undo && { undo }) }, { timeout: SHOWN_MS });
}

export function Toasts() {
  const t = useTranslations("common");
  return (
    <ToastRegion queue={queue} className="toasts">
      {({ toast }) => (
        <Toast toast={toast} className="toast" data-tone={toast.content.tone}>
          <ToastContent>
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          {toast.content.undo && (
            <ActionButton
              onPress={() => {
                toast.content.undo?.();
                queue.close(toast.key);
              }}
            >
              {t("undo")}
            </ActionButton>
          )}
          <ActionButton slot="close">{t("close")}</ActionButton>
        </Toast>
      )}
    </ToastRegion>
  );
}
