import { expect } from "vitest";

/** Compares bytes as a whole in every test. Vitest compares by index, which takes half a minute for 1 MB. */
expect.addEqualityTesters([
  (left, right) => {
    if (!(left instanceof Uint8Array && right instanceof Uint8Array)) return undefined;
    return left.constructor === right.constructor ? Buffer.compare(left, right) === 0 : undefined;
  },
]);
