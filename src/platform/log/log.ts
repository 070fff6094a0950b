import { writeSync } from "node:fs";
import { type DestinationStream, type Logger, pino } from "pino";
import { Secret } from "../secrets/secret.ts";
import { maskUrl } from "../urls/mask-url.ts";
import { LOG_FIELDS } from "./log-fields.ts";

/** Timeout for a slow reader; after it, lines are dropped without waiting until the reader continues. */
const TIMEOUT_MS = 200;

const PAUSE_MS = 5;

type Write = (fd: number, bytes: Uint8Array) => number;

export type Log = Logger;

const STANDARD_OUTPUT = 1;
const MAX_TEXT = 2000;
const PHONE_FIELDS = new Set(["phone", "jid", "lid", "chat", "to", "from"]);
const PHONE = /(?<![\w.])\d{10,15}(?![\w.]*\d)|\+\d[\d ().-]{7,}\d/g;
const CREDENTIAL = /\b(?:wg|whsec)_[A-Za-z0-9+/=_-]{8,}|\b(?:Bearer|Basic) +[A-Za-z0-9._~+/=-]+/g;
const ERROR_FIELDS = ["code", "errno", "syscall", "severity", "constraint", "table", "routine"] as const;

/**
 * Logs JSON lines to standard output, or to `destination`. Only the fields of `LOG_FIELDS` are logged, in
 * child loggers too. Phone numbers are masked, credentials removed, and errors keep their stack.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (value: unknown) => value },
    formatters: { level: (label: string) => ({ level: label }), log: allowed },
    hooks: { logMethod: scrubArguments },
  };
  const log: Log = pino(options, destination ?? createLogOutput(STANDARD_OUTPUT));
  // pino filters only the root logger's bindings, so this method filters those of children; they inherit it.
  const child = log.child;
  return Object.assign(log, {
    child(this: Log, bindings: Record<string, unknown>, ...rest: unknown[]) {
      return Reflect.apply(child, this, [allowed(bindings), ...rest]);
    },
  });
}

/** Keeps the first two and the last four digits: `55*****0001`. */
function maskPhone(phone: string): string {
  return phone.length <= 6 ? "*****" : `${phone.slice(0, 2)}*****${phone.slice(-4)}`;
}

function allowed(fields: Record<string, unknown>): Record<string, unknown> {
  const shownFields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (LOG_FIELDS.has(name)) {
      shownFields[name] = shown(name, value);
    }
  }
  return shownFields;
}

function shown(name: string, value: unknown): unknown {
  if (PHONE_FIELDS.has(name) && (typeof value === "string" || typeof value === "number")) {
    return String(value).replace(/\d{5,}/g, maskPhone);
  }
  if (name === "url" && typeof value === "string") {
    return maskUrl(value);
  }
  if (Array.isArray(value)) {
    return value.slice(0, 50).map((item) => scalar(item));
  }
  return value instanceof Error ? shownError(value) : scalar(value);
}

function scalar(value: unknown): unknown {
  if (typeof value === "string") {
    return scrub(value);
  }
  if (value instanceof Date || value instanceof Secret) {
    return value;
  }
  return typeof value === "object" || typeof value === "function" ? undefined : value;
}

function shownError(error: Error, depth = 0): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    type: error.name,
    message: scrub(error.message),
    stack: scrub(error.stack ?? ""),
  };
  for (const name of ERROR_FIELDS) {
    fields[name] = scalar(Reflect.get(error, name));
  }
  if (error.cause instanceof Error && depth < 3) {
    fields.cause = shownError(error.cause, depth + 1);
  }
  if (error instanceof AggregateError && depth < 3) {
    fields.errors = error.errors
      .filter(isError)
      .slice(0, 3)
      .map((one) => shownError(one, depth + 1));
  }
  return fields;
}

function isError(value: unknown): value is Error {
  return value instanceof Error;
}

function scrub(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
  return short.replace(CREDENTIAL, "[secret]").replace(PHONE, (phone) => maskPhone(phone.replace(/\D/g, "")));
}

type LogArguments = [unknown, ...unknown[]];

function scrubArguments(this: Log, values: LogArguments, method: (...values: LogArguments) => void): void {
  const [first, ...rest] = values;
  const texts = rest.map((value) => (typeof value === "string" ? scrub(value) : value));
  const error = errorOf(first);
  if (typeof first === "string") {
    method.apply(this, [scrub(first), ...texts]);
  } else if (error !== undefined) {
    const fields = first instanceof Error ? { err: first } : first;
    method.apply(this, texts.length === 0 ? [fields, scrub(error.message)] : [fields, ...texts]);
  } else {
    method.apply(this, [first, ...texts]);
  }
}

function errorOf(first: unknown): Error | undefined {
  if (first instanceof Error) {
    return first;
  }
  const err: unknown = typeof first === "object" && first !== null && "err" in first ? first.err : undefined;
  return err instanceof Error ? err : undefined;
}

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
