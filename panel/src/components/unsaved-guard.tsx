import { useBlocker } from "@tanstack/react-router";
import { useEffect, useId } from "react";
import { LeaveDialog } from "./leave-dialog.tsx";

/** The forms of the page with something to lose. The first of them asks for all, so that one question is enough. */
const unsaved = new Set<string>();

/** Asks before what is not saved is lost, by another page or a reload. After a save, navigate with `ignoreBlocker`. */
export function UnsavedGuard({ isDirty }: { isDirty: boolean }) {
  const id = useId();
  useEffect(() => {
    if (!isDirty) return;
    unsaved.add(id);
    return () => void unsaved.delete(id);
  }, [id, isDirty]);
  const blocker = useBlocker({
    shouldBlockFn: () => [...unsaved][0] === id,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return <LeaveDialog onStay={blocker.reset} onLeave={blocker.proceed} />;
}
