import { closeSync, openSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { skipUnless } from "../../../test/run/skip-unless.ts";
import { Secret } from "../secrets/secret.ts";
import { createLog, createLogOutput, type Log } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { createRateLimitedWarnings } from "./rate-limited-warnings.ts";

function record(level = "trace"): { log: Log; lines: Record<string, unknown>[]; raw: string[] } {
  const lines: Record<string, unknown>[] = [];
  const raw: string[] = [];
  const log = createLog(level, {
    write(line: string) {
      raw.push(line);
      lines.push(JSON.parse(line));
    },
  });
  return { log, lines, raw };
}

describe("the log", () => {
  it("writes one JSON line with level, time and message, and nothing about the machine", () => {
    const { log, lines } = record();
    log.info({ instance_id: 7, duration_ms: 12 }, "sent");
    expect(lines).toEqual([
      {
        level: "info",
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        instance_id: 7,
        duration_ms: 12,
        msg: "sent",
      },
    ]);
  });

  it("drops every field that is not on the list, in log calls and in children of children", () => {
    const { log, raw } = record();
    const child = log
      .child({ request_id: "req_1", authorization: "MARK1" })
      .child({ text: "MARK2", node: "n1" });
    child.info({ body: { text: "MARK3" }, api_key: "MARK4", headers: "MARK5", count: 2 }, "x");
    child.child({ password: "MARK6" }, { level: "info" }).info("y");
    expect(raw.join()).not.toContain("MARK");
    expect(JSON.parse(raw[0] ?? "")).toMatchObject({ request_id: "req_1", node: "n1", count: 2 });
  });

  it("drops objects even under an allowed name, so that no body is logged", () => {
    const { log, raw } = record();
    log.warn(
      { reason: { text: "MARK" }, error: () => "MARK", status: 500, roles: ["api", { text: "MARK" }] },
      "x",
    );
    expect(raw[0]).not.toContain("MARK");
    expect(raw[0]).toContain('"status":500');
    expect(raw[0]).toContain('"api"');
  });

  it("masks phone numbers in fields, messages and errors", () => {
    const { log, raw } = record();
    log.info(
      { phone: "5511999990001", jid: "5511999990001@s.whatsapp.net", to: 5511999990001 },
      "to 5511999990001",
    );
    log.error(new Error("no session for 5511999990001@s.whatsapp.net"));
    log.error({ err: new Error("bad 5511999990001"), reason: "+55 11 99999-0001 is unknown" });
    log.info("%s called %d times", "5511999990001", 2);
    log.info({ phone: "12345678" }, "a short one");
    expect(raw[4]).toContain('"phone":"12*****5678"');
    expect(raw.join()).not.toContain("5511999990001");
    expect(raw.join()).not.toContain("99999-0001");
    expect(JSON.parse(raw[0] ?? "")).toMatchObject({
      phone: "55*****0001",
      jid: "55*****0001@s.whatsapp.net",
      to: "55*****0001",
      msg: "to 55*****0001",
    });
    expect(JSON.parse(raw[1] ?? "")).toMatchObject({
      msg: "no session for 55*****0001@s.whatsapp.net",
      err: { type: "Error", message: "no session for 55*****0001@s.whatsapp.net" },
    });
    expect(JSON.parse(raw[3] ?? "").msg).toBe("55*****0001 called 2 times");
  });

  it("leaves ids, dates and durations readable", () => {
    const { log, lines } = record();
    log.info(
      { event_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV", run_at: new Date(0), duration_ms: 12_345_678_901 },
      "at 2024-11-20",
    );
    expect(lines[0]).toMatchObject({
      event_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      run_at: "1970-01-01T00:00:00.000Z",
      duration_ms: 12_345_678_901,
      msg: "at 2024-11-20",
    });
  });

  it("cuts credentials wherever they appear, and shows secrets as [secret]", () => {
    const { log, raw } = record();
    const key = "wg_0123456789abcdefghijABCDEFGHIJ0123456789abc";
    log.error(
      new Error(`refused ${key}`),
      `with Bearer eyJhbGciOi.J9.x and whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`,
    );
    log.info({ reason: `Basic dXNlcjpwYXNz, ${key}`, code: new Secret("hunter2") }, "x");
    for (const part of [key, "eyJhbGciOi", "MfKQ9r8", "dXNlcjpwYXNz", "hunter2"]) {
      expect(raw.join()).not.toContain(part);
    }
    expect(raw[1]).toContain("[secret]");
  });

  it("masks user name, password and query values of URLs", () => {
    const { log, lines } = record();
    log.info({ url: "https://bob:hunter2@hooks.test/in?token=abc&x=1" }, "posted");
    expect(lines[0]?.url).toBe("https://***@hooks.test/in?token=***&x=***");
  });

  it("writes errors with stack, code and cause, but without the row values in database errors", () => {
    const { log, lines, raw } = record();
    const cause = Object.assign(new Error("duplicate key"), {
      code: "23505",
      table: "contact",
      detail: "Key (name)=(MARK) already exists.",
      parameters: ["MARK"],
    });
    log.error({ err: new Error("could not store", { cause }), attempt: 2 }, "failed");
    expect(lines[0]).toMatchObject({
      attempt: 2,
      msg: "failed",
      err: {
        type: "Error",
        message: "could not store",
        stack: expect.stringContaining("log.unit.test.ts"),
        cause: { code: "23505", table: "contact", message: "duplicate key" },
      },
    });
    expect(raw[0]).not.toContain("MARK");
  });

  it("uses the message of an error that is passed alone, bare or as err, also in a child", () => {
    const { log, lines } = record();
    log.error(new Error("first"));
    log.error({ err: new Error("second") });
    log.child({ err: new Error("third") }).info("fourth");
    log.error({ err: new AggregateError([new Error("inner")], "") }, "fifth");
    expect(lines.map(({ msg }) => msg)).toEqual(["first", "second", "fourth", "fifth"]);
    expect(lines[2]).toMatchObject({ err: { message: "third" } });
    expect(lines[3]).toMatchObject({ err: { errors: [{ message: "inner" }] } });
  });

  it.each(["phone", "jid", "lid", "chat", "to", "from"])(
    "masks short phone numbers too in the field %s",
    (name) => {
      const { log, lines } = record();
      log.info({ [name]: "12345678@lid" }, "x");
      log.info({ [name]: 12345678 }, "x");
      log.info({ [name]: "123456" }, "x");
      log.info({ [name]: "1234" }, "x");
      log.info({ reason: "12345678" }, "x");
      expect(lines.map((line) => line[name] ?? line.reason)).toEqual([
        "12*****5678@lid",
        "12*****5678",
        "*****",
        "1234",
        "12345678",
      ]);
    },
  );

  it.each([
    ["5511999990001", "55*****0001"],
    ["1234567890", "12*****7890"],
    ["123456789012345", "12*****2345"],
    ["(5511999990001)", "(55*****0001)"],
    ["5511999990001.", "55*****0001."],
    ["+1234567890", "12*****7890"],
    ["+55 (11) 9.9999-0001", "55*****0001"],
    ["+123-45678", "12*****5678"],
  ])("masks %j in a text as %j", (text, shown) => {
    const { log, lines } = record();
    log.info({ reason: text }, text);
    expect(lines[0]).toMatchObject({ reason: shown, msg: shown });
  });

  it.each([
    "123456789",
    "1234567890123456",
    "a5511999990001",
    "1.5511999990001",
    "5511999990001a2",
    "+12 34",
    "2026-11-20",
  ])("does not take %j for a phone number", (text) => {
    const { log, lines } = record();
    log.info({ reason: text }, "x");
    expect(lines[0]?.reason).toBe(text);
  });

  it.each([
    ["wg_12345678", "[secret]"],
    ["whsec_AAAA+/=_-9", "[secret]"],
    ["a wg_12345678, b", "a [secret], b"],
    ["Bearer abc.~+/=-_9 x", "[secret] x"],
    ["Basic  YWJj", "[secret]"],
    ["wg_1234567", "wg_1234567"],
    ["awg_12345678", "awg_12345678"],
    ["Bearer", "Bearer"],
    ["aBearer x", "aBearer x"],
  ])("shows %j in a text as %j", (text, shown) => {
    const { log, lines } = record();
    log.info({ reason: text }, "x");
    expect(lines[0]?.reason).toBe(shown);
  });

  it("cuts a text after 2,000 characters, and a list after 50 items", () => {
    const { log, lines } = record();
    log.info({ reason: "x".repeat(2_000), error: "x".repeat(2_001), roles: Array(51).fill("api") }, "x");
    expect(lines[0]?.reason).toBe("x".repeat(2_000));
    expect(lines[0]?.error).toBe(`${"x".repeat(2_000)}...`);
    expect(lines[0]?.roles).toHaveLength(50);
  });

  it("keeps numbers, booleans and dates, and drops what has no short text", () => {
    const { log, lines } = record();
    log.info(
      { count: 0, will_retry: false, run_at: new Date(0), reason: null, error: undefined, url: 7 },
      "x",
    );
    expect(lines[0]).toEqual({
      level: "info",
      time: expect.any(String),
      count: 0,
      will_retry: false,
      run_at: "1970-01-01T00:00:00.000Z",
      url: 7,
      msg: "x",
    });
  });

  it("writes the causes of an error three deep, and three errors of several", () => {
    const { log, lines } = record();
    const chain = ["e", "d", "c", "b"].reduce<Error | undefined>(
      (cause, name) => new Error(name, { cause }),
      undefined,
    );
    log.error({ err: new Error("a", { cause: chain }) }, "x");
    const several = new AggregateError([
      new Error("1"),
      "no error",
      new Error("2"),
      new Error("3"),
      new Error("4"),
    ]);
    log.error({ err: several }, "x");
    const nested = [1, 2, 3, 4].reduce<Error>((inner) => new AggregateError([inner]), new Error("inner"));
    log.error({ err: nested }, "x");
    const plain = new Error("plain", { cause: "a text" });
    log.error({ err: plain }, "x");
    const [first, second, third, fourth] = lines.map(({ err }) => err as Record<string, never>);
    expect(first).toMatchObject({
      cause: { message: "b", cause: { message: "c", cause: { message: "d" } } },
    });
    expect(JSON.stringify(first)).not.toContain('"message":"e"');
    expect(second?.errors).toMatchObject([{ message: "1" }, { message: "2" }, { message: "3" }]);
    expect(JSON.stringify(third).match(/"errors"/g)).toHaveLength(3);
    expect(fourth).not.toHaveProperty("cause");
    expect(fourth).not.toHaveProperty("errors");
  });

  it("writes the codes of system errors and of database errors", () => {
    const { log, lines } = record();
    const fields = {
      code: "ENOENT",
      errno: -2,
      syscall: "open",
      severity: "ERROR",
      constraint: "job_pkey",
      table: "job",
      routine: "_bt_check_unique",
    };
    log.error({ err: Object.assign(new Error("x"), fields, { path: "/home/bia" }) }, "x");
    const { type, message, stack, ...others } = Object(lines[0]?.err);
    expect([type, message, typeof stack]).toEqual(["Error", "x", "string"]);
    expect(others).toEqual(fields);
    log.error({ err: Object.assign(new Error("y"), { stack: undefined }) }, "y");
    expect(lines[1]?.err).toEqual({ type: "Error", message: "y", stack: "" });
  });

  it("drops an object in the field of a phone", () => {
    const { log, lines } = record();
    log.info({ to: { number: "5511999990001" }, from: true }, "x");
    expect(lines[0]).not.toHaveProperty("to");
    expect(lines[0]?.from).toBe(true);
  });

  it("does not take a field err for an error if it is none", () => {
    const { log, lines } = record();
    log.error({ err: "broken" });
    log.error({ err: new Error("own") }, "given");
    log.error(new Error("own"), "given");
    expect(lines.map(({ msg }) => msg)).toEqual([undefined, "given", "given"]);
    expect(lines[0]?.err).toBe("broken");
  });

  it("writes no second line for a newline in the data", () => {
    const { log, raw } = record();
    log.info({ reason: 'x\n{"level":"fatal"}' }, "a\r\nb");
    expect(raw[0]?.trimEnd()).not.toContain("\n");
  });

  it("writes nothing below its level", () => {
    const { log, lines } = record("warn");
    log.info("quiet");
    log.warn("loud");
    expect(lines.map(({ msg }) => msg)).toEqual(["loud"]);
  });
});

const path = join(tmpdir(), `waygate-log-output-${process.pid}`);
afterEach(() => rm(path, { force: true }));

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test("log lines reach a file as they are written", () => {
  const fd = openSync(path, "w");
  const log = createLog("info", createLogOutput(fd));
  log.info("one");
  log.info("two");
  const lines = readFileSync(path, "utf8").trim().split("\n");
  closeSync(fd);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["one", "two"]);
});

const onLinux = skipUnless(process.platform === "linux", "only Linux has /dev/full");

test("a full disk loses log lines, and delays no work", onLinux, () => {
  const fd = openSync("/dev/full", "w");
  const log = createLog("info", createLogOutput(fd));
  for (let n = 0; n < 1000; n++) log.info("nobody reads this");
  closeSync(fd);
});

test("a torn log line does not swallow the next one", () => {
  const taken: string[] = [];
  const capacity = [3, 0, 100, 100];
  const output = createLogOutput(1, (_, bytes) => {
    const size = Math.min(capacity.shift() ?? 0, bytes.byteLength);
    if (size === 0) throw failure("ENOSPC");
    taken.push(Buffer.from(bytes.subarray(0, size)).toString());
    return size;
  });
  output.write("first\n");
  output.write("second\n");
  output.write("third\n");
  expect(taken.join("")).toBe("fir\nsecond\nthird\n");
});

test("the log waits a little for a slow reader", () => {
  const taken: string[] = [];
  // Independent of stalls of this process.
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  let busy = 2;
  const output = createLogOutput(1, (_, bytes) => {
    if (busy-- > 0) throw failure("EAGAIN");
    taken.push(Buffer.from(bytes).toString());
    return bytes.byteLength;
  });
  output.write("patience\n");
  clock.mockRestore();
  expect(taken).toEqual(["patience\n"]);
});

test("the log stops waiting for a reader that is gone, or does not read at all", () => {
  for (const code of ["EPIPE", "EAGAIN"]) {
    const output = createLogOutput(1, () => {
      throw failure(code);
    });
    expect(() => output.write("lost\n")).not.toThrow();
  }
});

interface Fields {
  ip: string;
  count?: number;
}

let now: number;
let lines: { fields: object; message: string }[];
let warn: (fields: Fields) => void;

beforeEach(() => {
  now = 1_000_000;
  lines = [];
  warn = createRateLimitedWarnings<Fields>({
    log: { warn: (fields: object, message: string) => void lines.push({ fields, message }) } as never,
    clock: { now: () => new Date(), monotonicMs: () => now },
    message: "a request was rejected",
    sourceOf: ({ ip }) => ip,
  });
});

function warnTimes(times: number, ip = "192.0.2.1"): void {
  for (let n = 0; n < times; n++) warn({ ip });
}

describe("a warning that clients can cause", () => {
  test("is logged with its fields and its message", () => {
    warn({ ip: "192.0.2.1" });
    expect(lines).toEqual([{ fields: { ip: "192.0.2.1" }, message: "a request was rejected" }]);
  });

  test("is logged ten times a minute for one source, without affecting another source", () => {
    warnTimes(30);
    expect(lines).toHaveLength(10);
    warn({ ip: "192.0.2.2" });
    expect(lines).toHaveLength(11);
  });

  test("is logged 120 times a minute for all sources together", () => {
    for (let n = 0; n < 200; n++) warn({ ip: `192.0.2.${n}` });
    expect(lines).toHaveLength(120);
  });

  test("reports once how many warnings were left out before it", () => {
    warnTimes(15);
    now += 12_000;
    warnTimes(2);
    expect(lines.slice(-2).map(({ fields }) => fields)).toEqual([
      { ip: "192.0.2.1", count: 5 },
      { ip: "192.0.2.1" },
    ]);
  });
});

test("the process is sampled only if the metrics can be read", () => {
  const namesOf = (token?: Secret) =>
    createMetrics(token)
      .registry.getMetricsAsArray()
      .map(({ name }) => name);
  // The one that an alert watches.
  expect(namesOf(new Secret("metrics-token"))).toContain("nodejs_eventloop_lag_p90_seconds");
  expect(namesOf()).toEqual(["waygate_http_request_seconds"]);
});
