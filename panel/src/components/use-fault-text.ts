import { useTranslations } from "use-intl";
import { toFault } from "../api/to-fault.ts";

/** Says why a request failed: in the words of the gateway, or in those of the panel. */
export function useFaultText(): (error: unknown) => string {
  const t = useTranslations("connection");
  return (error) => {
    const { message, text = "unreachable" } = toFault(error);
    return message ?? t(text);
  };
}
