import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../../test/run/build-dist.ts";
import { armFaultPoint, faultPoint } from "./fault-point.ts";

beforeAll(buildDist);

const BUILT = fileURLToPath(new URL("../../dist/src/platform/fault-point.js", import.meta.url));

async function run(spec: string, passes: string[]): Promise<{ said: string; end: unknown[] }> {
  const code = `const { armFaultPoint, faultPoint } = await import(${JSON.stringify(BUILT)});
    armFaultPoint(${JSON.stringify(spec)});
    const { writeSync } = await import("node:fs");
    for (const name of ${JSON.stringify(passes)}) { writeSync(1, name + " "); faultPoint(name); }`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  return { end: await once(child, "close"), said: output };
}

test("the process dies at the nth pass of its fault point, as if by kill -9", async () => {
  expect(
    await run("before-claim:3", ["before-claim", "after-claim", "before-claim", "before-claim", "late"]),
  ).toEqual({ said: "before-claim after-claim before-claim before-claim ", end: [null, "SIGKILL"] });
});

test("a fault point without a number means the first pass, and passes of others do not count", async () => {
  expect(await run("claim", ["other", "claim", "late"])).toEqual({
    said: "other claim ",
    end: [null, "SIGKILL"],
  });
  expect(await run("claim:2", ["claim", "other"])).toEqual({ said: "claim other ", end: [0, null] });
});

test("a fault point that is not armed does nothing, and an invalid spec is refused", () => {
  armFaultPoint(undefined);
  faultPoint("before-claim");
  expect(() => armFaultPoint("before claim:0")).toThrow(/<name>:<nth>/);
});
