import { describe, expect, it } from "vitest";
import { createTrustedDevices } from "./trusted-devices.ts";

const SECRET = "s".repeat(43);
const devices = createTrustedDevices([SECRET]);

describe("the token of a known device", () => {
  it("names the user who signed in there, and the device", () => {
    const [one, other] = [devices.issue(17), devices.issue(17)].map((token) => devices.find(token));
    expect(one).toEqual({ id: expect.stringMatching(/^[\w-]{22}$/), user_id: 17 });
    expect(other).toMatchObject({ user_id: 17 });
    expect(other?.id).not.toBe(one?.id);
  });

  it("is still valid while the secret key is being changed", () => {
    const changed = createTrustedDevices(["n".repeat(43), SECRET]);
    expect(changed.find(devices.issue(17))).toMatchObject({ user_id: 17 });
  });

  it.each([
    ["names another user than it was given to", () => devices.issue(17).replace(/^17/, "18")],
    ["was signed with another key", () => createTrustedDevices(["t".repeat(43)]).issue(17)],
    [
      "is half a year old",
      () => createTrustedDevices([SECRET], () => Date.now() - 181 * 86_400_000).issue(17),
    ],
    ["is of tomorrow", () => createTrustedDevices([SECRET], () => Date.now() + 86_400_000).issue(17)],
    ["is nonsense", () => "x".repeat(100_000)],
    ["is empty", () => ""],
  ])("is invalid when it %s", (_, make) => {
    expect(devices.find(make())).toBeUndefined();
  });
});
