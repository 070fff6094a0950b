import { useTranslations } from "use-intl";

/** A text as it appears in a chat. */
export function MessageBubble({ text, file }: { text: string; file?: string | undefined }) {
  const t = useTranslations("campaigns");
  return (
    <div className="text-bubble">
      {file !== undefined && <p className="text-bubble-file">{file}</p>}
      {text.trim() === "" ? (
        <p className="hint">{t("noText")}</p>
      ) : (
        <p className="text-bubble-text">{text}</p>
      )}
    </div>
  );
}
