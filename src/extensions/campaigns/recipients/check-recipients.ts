import { setImmediate as turn } from "node:timers/promises";
import { requireUser } from "../../../core/accounts/accounts.ts";
import { canonicalNumberOf } from "../../../core/contacts/contacts.ts";
import { getInstance } from "../../../core/instances/instances.ts";
import { invalidField } from "../../../platform/gateway-error.ts";
import type { Handlers } from "../../../platform/http/handler.ts";
import type { OutputOf } from "../../../platform/http/route.ts";
import { findConsenting } from "../../consent/consent.ts";
import { type campaignsContract, MAX_LISTED } from "../contract.ts";
import type { ParsedRecipient } from "./read-recipient.ts";
import { type AddRecipientsDeps, readLids, readRecipients } from "./recipient-adder.ts";

type Checked = OutputOf<typeof campaignsContract.checkRecipients>;
type Problem = Checked["problems"][number]["problem"];

/** Reports what adding these recipients to a campaign would do, and stores nothing. */
export function createRecipientCheck(
  deps: Pick<AddRecipientsDeps, "db" | "suppression" | "findCountry">,
): Handlers<typeof campaignsContract>["checkRecipients"] {
  return async ({
    input: { consent_purpose = null, instance_id, confirm_assumed = false, ...input },
    caller,
  }) => {
    const user = requireUser(caller);
    const { account_id } = user;
    if (!input.recipients && !input.lead_ids)
      throw invalidField("recipients", "is required: recipients or lead_ids", "missing");
    const { db, suppression } = deps;
    if (instance_id !== undefined) await getInstance(db, instance_id, user);
    const country = await deps.findCountry(instance_id === undefined ? { account_id } : { instance_id });
    const options = { country, isConfirmed: confirm_assumed };
    const seen = new Set<string>();
    const checked: Checked = {
      total: 0,
      ready: 0,
      assumed_country: country?.code ?? null,
      counts: { invalid: 0, assumed: 0, duplicate: 0, opted_out: 0, no_consent: 0 },
      problems: [],
    };
    for await (const some of readRecipients(db, user, input, options)) {
      const batch = await readLids(db, account_id, some);
      const phones = batch.flatMap((one) => ("phone" in one ? [one.phone] : []));
      const optedOut = await suppression.findListed(db, account_id, phones);
      const consenting = consent_purpose && (await findConsenting(db, account_id, consent_purpose, phones));
      for (const one of batch) count(checked, one, problemOf(one, { seen, optedOut, consenting }));
      // Lets other work run between two batches.
      await turn();
    }
    return checked;
  };
}

interface Known {
  seen: Set<string>;
  optedOut: ReadonlySet<string>;
  consenting: ReadonlySet<string> | null | "";
}

function problemOf(one: ParsedRecipient, { seen, optedOut, consenting }: Known): Problem | undefined {
  if ("reason" in one) return "invalid";
  if ("warning" in one) return "assumed";
  const person = canonicalNumberOf(one.phone);
  if (seen.has(person)) return "duplicate";
  seen.add(person);
  if (optedOut.has(one.phone)) return "opted_out";
  return consenting && !consenting.has(one.phone) ? "no_consent" : undefined;
}

function describe(one: ParsedRecipient): Omit<Checked["problems"][number], "index" | "problem"> {
  const none = { reason: null, code: null, params: {}, suggestion: null };
  if ("phone" in one) return { ...none, value: one.phone };
  if ("reason" in one) {
    const { value, reason, code, params } = one;
    return { ...none, value, reason, code, params };
  }
  const { code, params, issue, suggestion } = one.warning;
  return { value: one.value, reason: issue, code, params, suggestion };
}

function count(checked: Checked, one: ParsedRecipient, problem: Problem | undefined): void {
  const index = checked.total;
  checked.total += 1;
  if (problem === undefined) {
    checked.ready += 1;
    return;
  }
  checked.counts[problem] += 1;
  if (checked.problems.length >= MAX_LISTED) return;
  checked.problems.push({ index, problem, ...describe(one) });
}
