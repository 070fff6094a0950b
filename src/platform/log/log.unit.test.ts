import { describe, expect, it } from "vitest";
import { Secret } from "../secrets/secret.ts";
import { createLog, type Log, maskPhone } from "./log.ts";

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
    log.info("%s called", "5511999990001");
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
    expect(JSON.parse(raw[1] ?? "").msg).toBe("no session for 55*****0001@s.whatsapp.net");
    expect(JSON.parse(raw[3] ?? "").msg).toBe("55*****0001 called");
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

describe("maskPhone", () => {
  it("keeps the first two and the last four digits", () => {
    expect(maskPhone("5511999990001")).toBe("55*****0001");
    expect(maskPhone("123456")).toBe("*****");
  });
});
