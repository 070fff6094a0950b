import type { ServerContext } from "@modelcontextprotocol/server";

const EVERY_MS = 5_000;
/** Returned with each report. */
const MOST_TOKEN_CHARACTERS = 1_000;

/** Reports a step to the host. */
export type ReportProgress = (message: string) => void;

/**
 * Runs work that may take long. A host that asks for progress gets each reported step, and a sign of life in between:
 * hosts show it to their user, and start their timeout anew.
 */
export async function withProgress<T>(
  { mcpReq }: ServerContext,
  work: (report: ReportProgress) => Promise<T>,
  everyMs = EVERY_MS,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined || String(progressToken).length > MOST_TOKEN_CHARACTERS)
    return work(() => {});
  let progress = 0;
  const report = (message: string) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // The host may be gone; its request is then aborted.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
  const timer = setInterval(() => report("The gateway is at work."), everyMs);
  try {
    return await work(report);
  } finally {
    clearInterval(timer);
  }
}
