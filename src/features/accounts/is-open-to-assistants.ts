import type { Route } from "../../platform/http/route.ts";

/** Whether the token of an assistant is accepted: at /mcp, and by the routes that its tools use inside the process. */
export function isOpenToAssistants({ access, assistants }: Route, isInProcess: boolean): boolean {
  if (assistants === "directly") return !isInProcess;
  return isInProcess && (access === "instance" || assistants === "by tools");
}
