import { findOwnerSettingProblems } from "../core/accounts/users/find-owner-setting-problems.ts";
import { type Env, readConfig } from "../platform/config/config.ts";
import { armFaultPoint } from "../platform/fault-point.ts";
import { createLog, type Log } from "../platform/log/log.ts";
import { releaseMemoryWhenIdle } from "../platform/release-memory-when-idle.ts";
import { withSmallYoungGeneration } from "../platform/with-small-young-generation.ts";
import { type Gateway, startGateway } from "../processes/gateway.ts";
import { bannerLines } from "./banner-lines.ts";

/** Time for a load balancer to notice that this node wants no more requests. */
const DRAIN_MS = 3_000;
/** For running requests, sends and deliveries; a delivery takes at most 15 s by default. */
const GRACE_MS = 18_000;
const STOP_AT_MOST_MS = 25_000;
/** A Ctrl-C arrives twice when a parent such as npm passes it on. */
const SAME_SIGNAL_MS = 200;

/** Runs the gateway until a signal stops it. Throws StartError or ConfigError if it cannot start. */
export async function serve(env: Env): Promise<void> {
  const config = readConfig(env, findOwnerSettingProblems);
  armFaultPoint(config.faultPoint);
  const log = createLog(config.logLevel);
  endOnBugs(log);
  const starting = withSmallYoungGeneration(() =>
    startGateway(config, { log, isTerminal: process.stdout.isTTY }),
  );
  stopOnSignal(starting, log);
  const gateway = await starting;
  releaseMemoryWhenIdle();
  console.log(bannerLines(gateway, config).join("\n"));
  if (gateway.firstOwner?.password !== undefined) await gateway.confirmPrinted();
}

/** After a bug, memory cannot be trusted. Exiting loses nothing: all durable state is in the database. */
function endOnBugs(log: Log): void {
  process.on("uncaughtException", (error, origin) => {
    if (log.isLevelEnabled("fatal")) log.fatal({ err: error, reason: origin }, "a bug ends this process");
    else console.error(error);
    process.exit(1);
  });
}

/** SIGTERM first lets a load balancer notice; Ctrl-C does not wait for one; a second signal exits at once. */
function stopOnSignal(starting: Promise<Gateway>, log: Log): void {
  let stoppingSince: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "stopping");
    setTimeout(() => endLate(log), STOP_AT_MOST_MS).unref();
    void stop(starting, signal, log).then((code) => process.exit(code));
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/** Returns the exit code. */
async function stop(starting: Promise<Gateway>, signal: NodeJS.Signals, log: Log): Promise<number> {
  try {
    const gateway = await starting;
    await gateway.stop({ drainMs: signal === "SIGTERM" ? DRAIN_MS : 0, graceMs: GRACE_MS });
    log.info("stopped");
    return 0;
  } catch (error) {
    log.error({ err: error }, "graceful shutdown failed");
    return 1;
  }
}

function endLate(log: Log): never {
  log.error({ timeout_ms: STOP_AT_MOST_MS }, "stopping took too long");
  process.exit(1);
}
