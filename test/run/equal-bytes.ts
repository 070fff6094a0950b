import { expect } from "vitest";

/** Setup of every test: bytes are compared as a whole. Index by index, a file of a megabyte takes half a minute. */
expect.addEqualityTesters([
  (left, right) => {
    if (!(left instanceof Uint8Array && right instanceof Uint8Array)) return undefined;
    return left.constructor === right.constructor ? Buffer.compare(left, right) === 0 : undefined;
  },
]);
