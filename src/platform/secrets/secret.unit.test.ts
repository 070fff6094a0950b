import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "./secret.ts";

test("a secret shows its text only when it is revealed", () => {
  const secret = new Secret("hunter2");
  expect(secret.reveal()).toBe("hunter2");
  for (const shown of [
    String(secret),
    `${secret}`,
    inspect(secret),
    inspect({ secret }),
    JSON.stringify(secret),
  ]) {
    expect(shown).not.toContain("hunter2");
    expect(shown).toContain("[secret]");
  }
});
