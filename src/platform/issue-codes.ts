/** What a code says of a field; `docs/reference/errors.md` is generated from this. */
interface IssueCodeEntry {
  meaning: string;
  /** The names of its `params`. */
  params: readonly string[];
}

/** Every reason for which a field or a row is refused. */
export const ISSUE_CODES = {
  missing: { meaning: "It is required.", params: [] },
  empty: { meaning: "It is there, but empty.", params: [] },
  one_of_required: { meaning: "One of these fields is required.", params: ["fields"] },
  only_one_of: { meaning: "Only one of these fields may be sent.", params: ["fields"] },
  unknown_field: { meaning: "No field has this name.", params: [] },
  not_supported: { meaning: "The gateway does not do this.", params: [] },
  not_allowed_here: {
    meaning: "Beside the other values, or for this caller, it is not allowed.",
    params: [],
  },
  send_again: { meaning: "A masked value does not stand for the secret here: send the secret.", params: [] },

  wrong_type: { meaning: "It is of another type.", params: ["expected"] },
  wrong_format: { meaning: "It does not have the form that the field needs.", params: [] },
  unknown_value: { meaning: "It is none of these values.", params: ["values"] },
  not_whole: { meaning: "It is not a whole number.", params: [] },
  too_low: { meaning: "The number is lower than this.", params: ["min"] },
  too_high: { meaning: "The number is higher than this.", params: ["max"] },
  too_short: { meaning: "It has fewer characters, or digits, than this.", params: ["min"] },
  too_long: { meaning: "It has more characters, or digits, than this.", params: ["max"] },
  too_few: { meaning: "It has fewer entries than this.", params: ["min"] },
  too_many: { meaning: "It has more entries than this.", params: ["max"] },
  too_large: { meaning: "The file or value is larger than this.", params: ["max", "unit"] },
  not_a_url: { meaning: "It is not an address of the web.", params: [] },
  not_an_email: { meaning: "It is not an e-mail address.", params: [] },
  not_a_time: { meaning: "It is not a time in ISO 8601.", params: [] },
  not_a_date: { meaning: "It is not a date such as 2026-01-31.", params: [] },
  not_a_time_zone: { meaning: "It is not a time zone such as America/Sao_Paulo.", params: [] },
  not_a_country: { meaning: "It is not a country's code in ISO 3166.", params: [] },
  weak_password: { meaning: "The password is too easy to guess.", params: [] },

  greater_than: { meaning: "It is greater than the other field.", params: ["other"] },
  duplicate: { meaning: "It has, or is, a value twice.", params: [] },
  duplicate_line: { meaning: "The line of this number is about the same lead.", params: ["line"] },
  different_addresses: { meaning: "The other field names another person or chat.", params: ["other"] },
  not_found: { meaning: "It names nothing that exists or fits here.", params: [] },
  wrong_cursor: { meaning: "It is not a cursor of this list.", params: [] },
  above_plan: { meaning: "It is more than the plan of the account allows.", params: ["max"] },
  is_your_own: { meaning: "It is the caller's own, or a number of the account.", params: [] },
  blocked_address: { meaning: "The gateway may not call this address.", params: [] },
  refused_by_other: { meaning: "The other program or the network refused it.", params: [] },

  not_a_jid: { meaning: "It is not the address of a person or a group.", params: [] },
  not_a_person: { meaning: "It must be a person.", params: [] },
  unknown_phone: { meaning: "The phone of this person is not known.", params: [] },
  erased_person: { meaning: "The data of this person were erased.", params: [] },
  not_a_number: { meaning: "It is not a phone number.", params: [] },
  impossible_number: { meaning: "No country has such a phone number.", params: [] },
  several_numbers: { meaning: "It has more than one phone number.", params: [] },
  unknown_sign: { meaning: "No phone number has this sign.", params: ["sign", "code_point"] },
  changed_by_spreadsheet: { meaning: "A spreadsheet has changed the number.", params: [] },
  no_country_code: { meaning: "The number has no country code.", params: [] },
  assumed_country: {
    meaning: "The number has no country code, and is this one in that country.",
    params: ["country", "suggestion"],
  },
  ambiguous_country: {
    meaning: "The number can be this one, or that of the country.",
    params: ["as_written", "suggestion", "country"],
  },
  ambiguous_number: {
    meaning: "It can be this number, or something else.",
    params: ["as_written", "meaning"],
  },
  unknown_context: { meaning: "The number is none of this country.", params: ["context"] },

  not_base64: { meaning: "It is not base64.", params: [] },
  unreadable_file: { meaning: "The file is damaged, or of a type that cannot be read.", params: [] },
  wrong_file_type: { meaning: "The file is of another type.", params: ["expected"] },
  compressed_file: { meaning: "The file is compressed, against its name and type.", params: [] },
  page_instead_of_file: { meaning: "It is a web page with this title.", params: ["title"] },
  text_instead_of_file: { meaning: "It is this text instead of a file.", params: ["text"] },
  not_a_table: { meaning: "The file or the line is not CSV.", params: [] },
  no_phone_column: { meaning: "The table has no column of phones.", params: [] },
  too_many_cells: { meaning: "The line has more cells than the first line has.", params: ["max"] },

  invalid: { meaning: "It is not valid.", params: [] },
} as const satisfies Readonly<Record<string, IssueCodeEntry>>;

export type IssueCode = keyof typeof ISSUE_CODES;

/** What programs read of a wrong field: a code, and the numbers and names in its sentence. */
export interface IssueReason<C extends IssueCode = IssueCode> {
  code: C;
  params: IssueParams<C>;
}

/** Those of the code, and others that the sentence has. */
export type IssueParams<C extends IssueCode = IssueCode> = C extends unknown
  ? Readonly<Record<(typeof ISSUE_CODES)[C]["params"][number], IssueParam> & Record<string, IssueParam>>
  : never;
type IssueParam = string | number;

/** The last argument behind a code: a code without params needs none. */
export type ParamsOf<C extends IssueCode> = C extends unknown
  ? (typeof ISSUE_CODES)[C]["params"] extends readonly []
    ? [params?: IssueParams<C>]
    : [params: IssueParams<C>]
  : never;

/** A wrong field, as `details.fields` lists it. */
export interface FieldIssue extends IssueReason {
  field: string;
  /** In English, behind the name of the field. */
  issue: string;
}

/** What is wrong with a value whose field is not known yet. */
export type ValueIssue = Omit<FieldIssue, "field">;

export function valueIssue<C extends IssueCode>(
  issue: string,
  code: C,
  ...[params]: ParamsOf<C>
): ValueIssue {
  return { code, params: params ?? {}, issue } as ValueIssue;
}

/** The options of a `refine` of a schema. */
export function rule<C extends IssueCode>(issue: string, code: C, ...[params]: ParamsOf<C>) {
  return { error: issue, params: { code, params: params ?? {} } };
}
