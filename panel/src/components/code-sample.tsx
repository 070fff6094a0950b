import { useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "./action-button.tsx";

export function CodeSample({ text, label }: { text: string; label: string }) {
  const t = useTranslations("common");
  const [isCopied, setCopied] = useState(false);
  const shown = useRef<HTMLElement>(null);
  const copy = async () => {
    // Without HTTPS the clipboard API is missing, so the text is selected for the user to copy.
    if (navigator.clipboard === undefined) getSelection()?.selectAllChildren(shown.current as HTMLElement);
    else await navigator.clipboard.writeText(text).then(() => setCopied(true));
  };
  return (
    <div className="sample" data-single={text.includes("\n") ? undefined : ""}>
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: a section cannot be preformatted */}
      <pre tabIndex={0} role="region" aria-label={label}>
        <code ref={shown}>{text}</code>
      </pre>
      {/* biome-ignore-end lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: see above */}
      <ActionButton onPress={() => void copy()} aria-label={`${t(isCopied ? "copied" : "copy")}: ${label}`}>
        {t(isCopied ? "copied" : "copy")}
      </ActionButton>
    </div>
  );
}
