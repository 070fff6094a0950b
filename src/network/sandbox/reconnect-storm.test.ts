import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../test/conformance/listener.ts";
import { startSandboxNetwork, type TestSandboxNetwork } from "../../../test/sandbox-network.ts";

const SESSIONS = 6;
const PER_SECOND = 4;

let network: TestSandboxNetwork;

beforeAll(async () => {
  network = await startSandboxNetwork({ reconnectMs: 1, openPerSecond: PER_SECOND });
});

afterAll(() => network.stop());

it("sessions that lose the network together reconnect one after the other", async () => {
  const listeners: RecordingSession[] = [];
  for (let n = 0; n < SESSIONS; n++) listeners.push(await network.pair());
  const phones = await Promise.all(
    listeners.map(async (one) => (await one.waitForEvent("connected")).me.phone ?? ""),
  );
  const cutAt = performance.now();
  await Promise.all(phones.map((phone) => network.control.drop(phone)));
  await eventually(() => {
    expect(listeners.map((one) => one.all("connected").length)).toEqual(Array(SESSIONS).fill(2));
  });
  // The first session may reconnect at once; each of the others has its own slot in the second.
  expect(performance.now() - cutAt).toBeGreaterThan(((SESSIONS - 1) * 1000) / PER_SECOND - 5);
});
