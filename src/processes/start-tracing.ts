import type { Config } from "../platform/config/config.ts";
import { packageVersion } from "../platform/config/package-version.ts";
import type { Log } from "../platform/log/log.ts";
import { flushSpans, setTracing } from "../platform/tracing/tracing.ts";
import type { CleanupStack } from "./cleanup-stack.ts";

/** Traces as the settings say. The last step of a stop exports the spans that the others have ended. */
export function startTracing({ tracing }: Config, log: Log, undo: CleanupStack): void {
  const mode = setTracing(tracing, packageVersion());
  if (mode === tracing) undo.add(() => flushSpans());
  else
    log.warn(
      "WAYGATE_TRACING is on, but no OpenTelemetry SDK is loaded, so nothing is traced. See docs/operation/tracing.md.",
    );
}
