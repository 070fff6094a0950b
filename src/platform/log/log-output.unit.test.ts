import { closeSync, openSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createLog } from "./log.ts";
import { createLogOutput } from "./log-output.ts";

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

test.runIf(process.platform === "linux")("a full disk loses log lines, and delays no work", () => {
  const fd = openSync("/dev/full", "w");
  const log = createLog("info", createLogOutput(fd));
  for (let n = 0; n < 1000; n++) log.info("nobody reads this");
  closeSync(fd);
});

test("a torn log line does not swallow the next one", () => {
  const taken: string[] = [];
  const room = [3, 0, 100, 100];
  const output = createLogOutput(1, (_, bytes) => {
    const size = Math.min(room.shift() ?? 0, bytes.byteLength);
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
  // Independent of delays of this process itself.
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
