import { describe, expect, test } from "vitest";
import { expandAppStateKeys, hkdf, LTHashAntiTampering, md5 } from "./baileys-crypto.js";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte);

// Those of whatsapp-rust-bridge 0.5.4 for the same inputs, and of the two standards.
describe("The functions that replace whatsapp-rust-bridge return the known answers", () => {
  test("for MD5 (RFC 1321)", () => {
    expect(hex(md5(Buffer.from("abc")))).toBe("900150983cd24fb0d6963f7d28e17f72");
  });

  test.each<[string, Uint8Array, number, Parameters<typeof hkdf>[2], string]>([
    [
      "without salt and info (RFC 5869, test case 3)",
      filled(22, 0x0b),
      42,
      {},
      "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ],
    [
      "of nothing, as the Noise handshake ends",
      filled(0, 0),
      64,
      { salt: Buffer.from("000102030405060708090a0b0c", "hex"), info: "" },
      "5cc2232b461e4dfef6a6a02b071392ce5b889632cc3adc397bd0adbe75bcac0b186a89133e7c8cdf688a02038fd84c2f4c8306350723cb4b52b0fd7050f93c48",
    ],
    [
      "with an info beyond ASCII, in UTF-8",
      filled(22, 0x0b),
      32,
      { info: "é" },
      "20fcdd9c2dbbaaf63ef5a8fdeca284276df1419ac4a624c63a07ba1ed1a06ee3",
    ],
  ])("for HKDF %s", (_what, key, length, options, expected) => {
    expect(hex(hkdf(key, length, options))).toBe(expected);
  });

  test("for the keys of an app state key", () => {
    const keys = Object.entries(expandAppStateKeys(filled(32, 7))).map(([name, key]) => [name, hex(key)]);
    expect(Object.fromEntries(keys)).toEqual({
      indexKey: "a3c20564c4744dc336223b76a374ac369fb1bc2062969b26bd0104cba5149e7a",
      valueEncryptionKey: "28f9ac3865f5c0d77441c361c8eb0c40435487e1fca973df3828cbe320faa07f",
      valueMacKey: "e2b9c9aaebb04ac52b5c04c449a8af48945e63af3e4b8e2b3f8266753675bc3e",
      snapshotMacKey: "c49519c1aa1718c8f1c1f14c546fb2dedfcc58cace2b5fba9de15f9c084bd04b",
      patchMacKey: "3b9efe15c717b5da8b85c45200bb6ce8af59c72d62f4c203909c53749b54cd04",
    });
  });

  test("for the hash of a collection, which takes out what was put in and leaves its input alone", () => {
    const { subtractThenAdd } = new LTHashAntiTampering();
    const [empty, one, two, three] = [filled(128, 0), filled(32, 1), filled(32, 2), filled(32, 3)];
    const first = subtractThenAdd(empty, [], [one]);
    expect(hex(first)).toBe(
      "480731be8120f60bc4ec932b3d4a39963619f5159f1b76eb47c202e2015b5eacfaeb9739457e87ebe9b32113d372c334184c526cb53a7b3a62ec3732838ee43b94d8b11eeb4c6a278ac31f15e3d4b26e23f637f31e278ff399d2141a81dbc5f400aa882afeff5deeedd3ebcdd7e6e0757b7f0fb0595de01935b2819f1ab58173",
    );
    const both = subtractThenAdd(first, [one], [two, three]);
    expect(hex(both)).toBe(
      "17321670b0a4da8ac80e6cc93e81e54cb1d895d9d11ec71bda825d0b70363463d2f7fb542d66914cbc880a7553d2a259c383ed933492b741b728809acdfb4c477fad8d88375eff4d1990cc8eb7812a7f45ff2d99af5b90f8b8e8908cbe36fabc297e3983b20b55e08a04f2dd8e9e5c413a318c9869558704e5cd5eb938dff10d",
    );
    expect(subtractThenAdd(both, [three, two], [])).toEqual(empty);
    expect(empty).toEqual(filled(128, 0));
    expect(() => subtractThenAdd(filled(127, 0), [], [])).toThrow("A hash of 127 bytes is no LT hash.");
  });
});
