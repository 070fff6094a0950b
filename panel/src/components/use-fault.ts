import { useMemo } from "react";
import { type Fault, toFault } from "../api/to-fault.ts";
import { useGatewayWords } from "./use-gateway-words.ts";

/**
 * The same object while the error is the same: a form would take another one for a new refusal of what the reader has
 * corrected. Issues are in the language of the panel. `prefix` is left out of the names of fields.
 */
export function useFault(error: unknown, prefix = ""): Fault {
  const words = useGatewayWords();
  return useMemo(() => {
    const fault = toFault(error);
    const fields = Object.entries(fault.fields).map(([name, issue]) => [
      name.replace(prefix, ""),
      words.issue(issue),
    ]);
    return { ...fault, fields: Object.fromEntries(fields) };
  }, [error, prefix, words]);
}
