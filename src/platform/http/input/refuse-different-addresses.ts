import { type GatewayError, invalidField, invalidFields } from "../../gateway-error.ts";
import type { FieldIssue } from "../../issue-codes.ts";
import { foldPhoneText, foldSigns } from "../../phone/fold-phone-text.ts";
import { numberVariantsOf } from "../../phone/number-variants.ts";
import type { Route } from "../route.ts";

/** Fields that name a person or a chat. */
const ADDRESSES = ["jid", "number", "phone", "chat", "from"] as const;

/** Throws VALIDATION_ERROR if a field and its aliases name different people or chats, or one of them is damaged. */
export function refuseDifferentAddresses(
  { aliases = {} }: Pick<Route, "aliases">,
  read: (path: string) => unknown,
): void {
  for (const field of ADDRESSES) {
    const [first, ...others] = [field, ...(aliases[field] ?? [])].flatMap((name) => {
      const value = read(name);
      const isText = typeof value === "number" || (typeof value === "string" && value.trim() !== "");
      return isText ? [{ name, text: String(value) }] : [];
    });
    if (first === undefined || others.length === 0) continue;
    for (const other of others)
      if (areDifferent(first, other)) throw differentAddresses(first.name, other.name);
  }
}

/** The refusal of two fields that name different people or chats. */
export function differentAddresses(one: string, other: string): GatewayError {
  return invalidFields([differsFrom(one, other), differsFrom(other, one)]);
}

function differsFrom(field: string, other: string): FieldIssue {
  const issue = `names another person or chat than \`${other}\`. Send one of them`;
  return { field, code: "different_addresses", params: { other }, issue };
}

interface NamedText {
  name: string;
  text: string;
}

interface Address {
  digits: string;
  /** Where the digits belong; a bare number is one of a person. */
  server: string;
  /** The country code is among the digits. */
  isWhole: boolean;
}

/**
 * Whether two texts cannot mean the same person or chat; the phone of a LID is not known here. Throws VALIDATION_ERROR for a
 * damaged number.
 */
export function areDifferent(one: NamedText, other: NamedText): boolean {
  if (one.text === other.text) return false;
  const [a, b] = [readAddress(one), readAddress(other)];
  if (a.digits === b.digits) return false;
  const servers = [a.server, b.server];
  if (a.server !== b.server) return !(servers.includes("lid") && servers.includes(""));
  if (a.server !== "") return true;
  return !isWithin(a, b) && !isWithin(b, a);
}

const PERSON = /^(?:c\.us|s\.whatsapp\.net)$/;

function readAddress({ name, text }: NamedText): Address {
  const [user = "", server] = foldSigns(text).trim().toLowerCase().split("@");
  if (server !== undefined) {
    const digits = user.replace(/:\d+$/, "");
    return { digits, server: PERSON.test(server) ? "" : server, isWhole: true };
  }
  const folded = foldPhoneText(text);
  if ("code" in folded) throw invalidField(name, folded.issue, folded.code, folded.params);
  return { digits: folded.digits, server: "", isWhole: folded.isInternational };
}

/** Whether a number is the other one in its other format, or without its country code. */
function isWithin({ digits, isWhole }: Address, whole: Address): boolean {
  const national = digits.replace(/^0+/, "");
  return numberVariantsOf(whole.digits).some(
    (variant) => variant === digits || (!isWhole && national.length >= 8 && variant.endsWith(national)),
  );
}
