import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { needs } from "../../../test/run/programs.ts";
import { SIGNATURE_VECTORS } from "../../../test/signature-vectors.ts";

test("the signature vectors have the signature of the body that openssl computes", needs("openssl"), () => {
  for (const { secret, body, times, headers } of SIGNATURE_VECTORS) {
    const options = ["dgst", "-sha256", "-hmac", secret, "-r"];
    const output = execFileSync("openssl", options, { input: body.repeat(times), encoding: "utf8" });
    expect(headers["x-waygate-signature"]).toBe(`sha256=${output.split(" ")[0]}`);
  }
});
