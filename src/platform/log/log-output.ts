import { writeSync } from "node:fs";
import type { DestinationStream } from "pino";

/** Timeout for a slow reader; after it, lines are dropped without waiting until the reader continues. */
const TIMEOUT_MS = 200;
const PAUSE_MS = 5;

type Write = (fd: number, bytes: Uint8Array) => number;

/**
 * Writes lines to a file descriptor, each before the function returns. Drops a line if the write fails or
 * there is no reader: a log must never block or fail the gateway's work.
 */
export function createLogOutput(fd: number, write: Write = writeSync): DestinationStream {
  // Part of a line was written, so the next line must start on a new one.
  let isTorn = false;
  let timeoutMs = TIMEOUT_MS;

  return {
    write(line) {
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      const written = writeAll(bytes);
      if (written === bytes.byteLength) isTorn = false;
      else if (written > 0) isTorn = true;
    },
  };

  function writeAll(bytes: Buffer): number {
    const until = performance.now() + timeoutMs;
    let at = 0;
    while (at < bytes.byteLength) {
      try {
        at += write(fd, bytes.subarray(at));
        timeoutMs = TIMEOUT_MS;
      } catch (error) {
        if (isBusy(error) && performance.now() < until) {
          pause();
          continue;
        }
        timeoutMs = 0;
        return at;
      }
    }
    return at;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
