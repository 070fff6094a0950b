import { z } from "zod";
import { ISSUE_CODES, type IssueCode } from "../issue-codes.ts";
import { named } from "./schema-name.ts";

/** The numbers and names in the sentence of a reason. */
export const reasonParams = named("ReasonParams", z.record(z.string(), z.union([z.string(), z.number()])));

/** Why a field, a row or a recipient is refused. */
export const issueReason = {
  code: named(
    "IssueCode",
    z
      .enum(Object.keys(ISSUE_CODES) as [IssueCode, ...IssueCode[]])
      .describe("`docs/reference/errors.md` lists them with their params."),
  ),
  params: reasonParams,
};

/** A wrong field of a request. */
export const fieldIssue = named(
  "FieldIssue",
  z.object({ field: z.string(), ...issueReason, issue: z.string().describe("In English.") }),
);
