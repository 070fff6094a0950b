/** Codes, each with the names of its params; `docs/reference/errors.md` is generated from these tables. */
export type ReasonTable = Readonly<Record<string, readonly string[]>>;

/** Every reason for which a field or a row is refused. */
export const ISSUE_CODES = {
  missing: [],
  empty: [],
  one_of_required: ["fields"],
  only_one_of: ["fields"],
  unknown_field: [],
  not_supported: [],
  not_allowed_here: [],
  send_again: [],

  wrong_type: ["expected"],
  wrong_format: [],
  unknown_value: ["values"],
  not_whole: [],
  too_low: ["min"],
  too_high: ["max"],
  too_short: ["min"],
  too_long: ["max"],
  too_few: ["min"],
  too_many: ["max"],
  too_large: ["max", "unit"],
  not_a_url: [],
  not_an_email: [],
  not_a_time: [],
  not_a_date: [],
  not_a_time_zone: [],
  not_a_country: [],
  weak_password: [],

  greater_than: ["other"],
  duplicate: [],
  duplicate_line: ["line"],
  different_addresses: ["other"],
  not_found: [],
  wrong_cursor: [],
  above_plan: ["max"],
  is_your_own: [],
  blocked_address: [],
  refused_by_other: [],

  not_a_jid: [],
  not_a_person: [],
  unknown_phone: [],
  erased_person: [],
  not_a_number: [],
  impossible_number: [],
  several_numbers: [],
  unknown_sign: ["sign", "code_point"],
  changed_by_spreadsheet: [],
  no_country_code: [],
  assumed_country: ["country", "suggestion"],
  ambiguous_country: ["as_written", "suggestion", "country"],
  ambiguous_number: ["as_written", "meaning"],
  unknown_context: ["context"],

  not_base64: [],
  unreadable_file: [],
  wrong_file_type: ["expected"],
  compressed_file: [],
  page_instead_of_file: ["title"],
  text_instead_of_file: ["text"],
  not_a_table: [],
  no_phone_column: [],
  too_many_cells: ["max"],

  invalid: [],
} as const satisfies ReasonTable;

export type IssueCode = keyof typeof ISSUE_CODES;

/** What programs read of a wrong field: a code, and the numbers and names in its sentence. */
export interface IssueReason {
  code: IssueCode;
  params: IssueParams;
}

/** Those of a code in its table, and others that the sentence has. */
export type ParamsIn<T extends ReasonTable, C extends keyof T> = C extends unknown
  ? Readonly<Record<T[C][number], ReasonParam> & Record<string, ReasonParam>>
  : never;
type ReasonParam = string | number;

export type IssueParams<C extends IssueCode = IssueCode> = ParamsIn<typeof ISSUE_CODES, C>;

/** The last argument behind a code: a code without params needs none. */
export type ParamsOf<C extends IssueCode> = C extends unknown
  ? (typeof ISSUE_CODES)[C] extends readonly []
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
