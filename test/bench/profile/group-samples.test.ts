import { expect, test } from "vitest";
import { groupSamples } from "./group-samples.ts";

const URLS = [
  ["(idle)", ""],
  ["writev", ""],
  ["run", "file:///opt/waygate/dist/src/engine/lane.js"],
  ["send", "file:///opt/waygate/dist/src/features/messages/send/run-send.js"],
  ["insert", "file:///opt/waygate/dist/src/features/messages/log.js"],
  ["encode", "file:///opt/waygate/node_modules/baileys/lib/encode.js"],
  ["parse", "file:///opt/waygate/node_modules/pg/node_modules/@scope/protocol/parse.js"],
  ["write", "node:internal/streams/writable"],
  ["post", "node:inspector"],
  ["dispatch", ""],
] as const;

test("samples count for the package, the folder or the part of Node that they are in, except those of the recording", () => {
  const nodes = URLS.map(([functionName, url], index) => ({
    id: index + 1,
    callFrame: { functionName, url, scriptId: "1", lineNumber: 1, columnNumber: 1 },
    // The inspector calls a native function.
    children: index === 8 ? [10] : [],
  }));
  const profile = {
    nodes,
    startTime: 0,
    endTime: 100_000,
    samples: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    timeDeltas: [50_000, 10_000, 20_000, 5_000, 10_000, 5_000, 30_000, 20_000, 5_000, 90_000],
  };
  expect(groupSamples([profile]).map(({ name, ms, share }) => [name, ms, share])).toEqual([
    ["@scope/protocol", 30, 0.3],
    ["src/engine", 20, 0.2],
    ["node:streams", 20, 0.2],
    ["src/features/messages", 15, 0.15],
    ["native writev", 10, 0.1],
    ["baileys", 5, 0.05],
  ]);
});
