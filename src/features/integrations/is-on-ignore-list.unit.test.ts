import { expect, test } from "vitest";
import { isOnIgnoreList } from "./is-on-ignore-list.ts";

const ANA = { jid: "553187654321@s.whatsapp.net", lid: "100011999990058@lid", phone: "553187654321" };

test.each(["5531987654321", "+5531987654321", "5531987654321@s.whatsapp.net", "553187654321", ANA.lid])(
  "a number ignored as %s is also ignored under the other format of the number",
  (listed) => {
    expect(isOnIgnoreList(["351912345678", listed], ANA)).toBe(true);
    expect(
      isOnIgnoreList([listed], { jid: "351912345678@s.whatsapp.net", lid: null, phone: "351912345678" }),
    ).toBe(false);
  },
);
