import { z } from "zod";
import { DELIVERY_REASONS, type DeliveryReason } from "../delivery-reasons.ts";
import { ISSUE_CODES, type IssueCode } from "../issue-codes.ts";
import { SEND_REASONS, type SendReason } from "../send-reasons.ts";
import { named } from "./schema-name.ts";

/** The numbers and names in the sentence of a reason. */
export const reasonParams = named("ReasonParams", z.record(z.string(), z.union([z.string(), z.number()])));

/** Why a delivery failed. */
export const deliveryReason = named(
  "DeliveryReason",
  z.enum(Object.keys(DELIVERY_REASONS) as [DeliveryReason, ...DeliveryReason[]]),
);

export const deliveryFailure = named(
  "DeliveryFailure",
  z.object({ reason: deliveryReason, params: reasonParams }),
);

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

/** Why a send failed. */
export const sendError = named(
  "SendError",
  z.object({
    code: z.string(),
    reason: named("SendReason", z.enum(Object.keys(SEND_REASONS) as [SendReason, ...SendReason[]])),
    params: reasonParams,
    message: z.string(),
    retryable: z.boolean(),
  }),
);
