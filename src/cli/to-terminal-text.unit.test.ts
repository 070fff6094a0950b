import { describe, expect, test } from "vitest";
import { toTerminalJson, toTerminalText } from "./to-terminal-text.ts";

const HOSTILE = "a\u001b[2J\u009b31m\u0007\u007f\u202eb\u2066\u2028c\ufeff\ud800";
const ACTIVE = /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufeff]/u;

describe("a foreign text on a terminal", () => {
  test("has every control character and mark of direction written out", () => {
    expect(toTerminalText(HOSTILE)).toBe(
      "a\\u001b[2J\\u009b31m\\u0007\\u007f\\u202eb\\u2066\\u2028c\\ufeff\\ud800",
    );
    expect(toTerminalText(HOSTILE)).not.toMatch(ACTIVE);
  });

  test("stays on one line", () => {
    expect(toTerminalText("one\r\ntwo\tthree")).toBe("one\\r\\ntwo\\tthree");
  });

  test("keeps letters of every script and joined emoji", () => {
    const text = "Olá, שלום, 你好 👩‍👩‍👧";
    expect(toTerminalText(text)).toBe(text);
  });

  test("is cut after the given length, also in the middle of a surrogate pair", () => {
    expect(toTerminalText("abcdef", 3)).toBe("abc…");
    expect(toTerminalText("ab😀", 3)).toBe("ab\\ud83d…");
    expect(toTerminalText("abc", 3)).toBe("abc");
  });
});

describe("foreign JSON on a terminal", () => {
  const value = { text: HOSTILE, list: [1, null, "two\nlines"] };

  test.each([undefined, 2])("has the same content without an active character, with indent %s", (indent) => {
    const shown = toTerminalJson(value, indent);
    expect(JSON.parse(shown)).toEqual(value);
    expect(shown).not.toMatch(ACTIVE);
  });

  test("without an indent is one line", () => {
    expect(toTerminalJson(value)).not.toContain("\n");
    expect(toTerminalJson(undefined)).toBe("null");
  });
});
