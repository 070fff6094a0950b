import { type Selectable, sql } from "kysely";
import { type Db, isUniqueViolation, type Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { PlanTable } from "../../tables.ts";
import { type AuditActor, fieldNamesOf, recordAudit } from "../audit/audit.ts";
import type { plansContract } from "./contract.ts";
import { isPlanWithin } from "./plans.ts";

type Plan = Selectable<PlanTable>;

/** New accounts get these plans by name, so their names cannot change. */
const BUILT_IN = new Set(["unlimited", "standard"]);

export function planHandlers(db: Db): Handlers<typeof plansContract> {
  return {
    async listPlans({ input, caller }) {
      const { rows, pagination } = await listPlans(db, caller, input);
      return new OkResponse(rows, { beside: { pagination } });
    },

    createPlan: ({ input, ...by }) =>
      db.transaction().execute(async (trx) => {
        const { features, ...columns } = input;
        const plan = await trx
          .insertInto("plan")
          .values({ ...columns, features: JSON.stringify(features ?? {}) })
          .returningAll()
          .executeTakeFirstOrThrow()
          .catch(refuseTakenName);
        const target = { type: "plan", id: plan.id };
        const fields = fieldNamesOf(input);
        await recordAudit(trx, { by, action: "plan.create", target, account_id: null, fields });
        return plan;
      }),

    updatePlan: ({ input, ...by }) =>
      db.transaction().execute(async (trx) => {
        const before = await lockPlan(trx, input.id);
        requireChangeable(before, input);
        const { id, features, name = before.name, ...columns } = input;
        const plan = await trx
          .updateTable("plan")
          .set({ ...columns, name, ...(features && { features: JSON.stringify(features) }) })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirstOrThrow()
          .catch(refuseTakenName);
        const fields = fieldNamesOf(input, "id");
        await recordAudit(trx, {
          by,
          action: "plan.update",
          target: { type: "plan", id },
          account_id: null,
          fields,
        });
        return plan;
      }),

    deletePlan: ({ input: { id }, ...by }) => db.transaction().execute((trx) => deletePlan(trx, id, by)),
  };
}

async function deletePlan(trx: Trx, id: number, by: AuditActor): Promise<{ id: number }> {
  const { name } = await lockPlan(trx, id, "for update");
  if (BUILT_IN.has(name))
    throw new GatewayError("CONFLICT", `The plan ${name} is built in and cannot be deleted.`);
  await requireUnused(trx, id, name);
  await trx.deleteFrom("plan").where("id", "=", id).execute();
  await recordAudit(trx, { by, action: "plan.delete", target: { type: "plan", id }, account_id: null });
  return { id };
}

async function requireUnused(trx: Trx, id: number, name: string): Promise<void> {
  const { accounts } = await trx
    .selectFrom("account")
    .select(({ fn }) => fn.countAll<number>().as("accounts"))
    .where("plan_id", "=", id)
    .executeTakeFirstOrThrow();
  if (Number(accounts) === 0) return;
  throw new GatewayError(
    "CONFLICT",
    `${accounts} accounts have the plan ${name}. Give them another plan first.`,
    {
      details: { accounts: Number(accounts) },
    },
  );
}

/** A reseller sees only plans within its own, which it can assign. Plans are few, so all are read. */
async function listPlans(
  db: Db,
  caller: Caller,
  { limit, cursor, q }: InputOf<typeof plansContract.listPlans>,
) {
  const before = readCursor(cursor);
  const all = await db
    .selectFrom("plan")
    .selectAll()
    .where(containsText(q, sql`name`))
    .orderBy("id", "desc")
    .execute();
  const own = caller.kind === "user" && caller.account_type === "reseller" ? await planOf(db, caller) : null;
  const shown = all.filter((plan) => own === null || isPlanWithin(plan, own));
  const rest = before === undefined ? shown : shown.filter(({ id }) => id < before);
  return toPage(rest.slice(0, limit + 1), limit, ({ id }) => id);
}

function planOf(db: Db, { account_id }: { account_id: number }): Promise<Plan> {
  return db
    .selectFrom("account")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .selectAll("plan")
    .where("account.id", "=", account_id)
    .executeTakeFirstOrThrow();
}

/** `for update`: no account can get the plan before the commit. */
function lockPlan(trx: Trx, id: number, mode: "for update" | "for change" = "for change"): Promise<Plan> {
  const plan = trx.selectFrom("plan").selectAll().where("id", "=", id);
  return (mode === "for update" ? plan.forUpdate() : plan.forNoKeyUpdate()).executeTakeFirstOrThrow(
    () => new GatewayError("NOT_FOUND", "There is no such plan."),
  );
}

function requireChangeable(plan: Plan, { name }: { name?: string }): void {
  if (plan.name === "unlimited") {
    throw new GatewayError(
      "CONFLICT",
      "The plan unlimited belongs to the owner's account and cannot be changed.",
    );
  }
  if (BUILT_IN.has(plan.name) && name !== undefined && name !== plan.name) {
    throw new GatewayError("CONFLICT", `The plan ${plan.name} is built in and cannot be renamed.`);
  }
}

function refuseTakenName(error: unknown): never {
  if (isUniqueViolation(error)) {
    throw new GatewayError("CONFLICT", "A plan with this name already exists. Use another name.", {
      cause: error,
    });
  }
  throw error;
}
