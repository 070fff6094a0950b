import { invalidField } from "../../platform/gateway-error.ts";
import { type PhoneCountry, readPhoneNumber } from "../../platform/phone/read-phone-number.ts";
import { readAddress } from "./recipient.ts";

/** How the numbers of a list are read. */
export interface ListedNumberOptions {
  /** Of the numbers without a country code. */
  country?: PhoneCountry;
  /** A person has confirmed what is assumed; otherwise it is only listed as a warning. */
  isConfirmed: boolean;
}

/** What was assumed about a number of a list. */
export interface NumberWarning {
  code: string;
  params: Record<string, string | number>;
  issue: string;
  /** The digits that a confirmation takes. */
  suggestion: string;
}

export type ListedNumber = { phone: string; warning?: never } | { phone?: never; warning: NumberWarning };

/** Reads a number of a campaign or an import. Throws VALIDATION_ERROR for text that is no number of a person. */
export function readListedNumber(text: string, { country, isConfirmed }: ListedNumberOptions): ListedNumber {
  const reading = readPhoneNumber(text, country);
  if (reading.is === "assumed") {
    const { code, params, issue, suggestion } = reading;
    return isConfirmed ? { phone: suggestion } : { warning: { code, params, issue, suggestion } };
  }
  const { phone } = readAddress("phone", text, country);
  if (phone === null) throw invalidField("phone", "must be a phone number");
  return { phone };
}
