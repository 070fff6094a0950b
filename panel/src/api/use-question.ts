import { useSyncExternalStore } from "react";
import type { Question, QuestionStore } from "./question.ts";

/** The question that waits for an answer. Its requests wait while the component is shown. */
export function useQuestion({ subscribe, current }: QuestionStore): Question | undefined {
  return useSyncExternalStore(subscribe, current);
}
