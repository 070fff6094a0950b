import { useBlocker } from "@tanstack/react-router";
import { LeaveDialog } from "./leave-dialog.tsx";

/** Asks before what is not saved is lost, by another page or a reload. After a save, navigate with `ignoreBlocker`. */
export function UnsavedGuard({ isDirty }: { isDirty: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return <LeaveDialog onStay={blocker.reset} onLeave={blocker.proceed} />;
}
