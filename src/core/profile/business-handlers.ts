import type { Identity, Jid } from "../../network/driver.ts";
import type { ContactInfo } from "../../network/session-operations.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import { type FindCountry, type NumberResolver, resolveForInstance } from "../contacts/contacts.ts";
import { getInstance } from "../instances/instances.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import type { profileContract } from "./contract.ts";

export interface BusinessDeps {
  db: Parameters<typeof getInstance>[0];
  runOperation: RunSessionOperation;
  numbers: NumberResolver;
  findCountry: FindCountry;
}

/** What businesses show of themselves: data and products. */
export function businessHandlers(
  deps: BusinessDeps,
): Pick<Handlers<typeof profileContract>, "getBusiness" | "getCatalog"> {
  const { runOperation } = deps;
  return {
    async getBusiness({ input: { id, number } }) {
      const jid = await findPerson(deps, id, number);
      const found: Identity & Pick<ContactInfo, "business"> =
        jid === null
          ? await runOperation(id, (session) => session.profile.get())
          : await runOperation(id, (session) => session.contacts.info(jid));
      const { business, push_name, lid, phone, ...person } = cleanFromNetwork(found);
      if (!business) throw new GatewayError("NOT_FOUND", "This person is no business.");
      const { description = null, category = null, email = null, address = null } = business;
      const { website = [], hours = null } = business;
      const addresses = { jid: person.jid, lid, phone, name: push_name };
      return { ...addresses, description, category, email, address, website, hours };
    },

    async getCatalog({ input: { id, number, limit, cursor = null } }) {
      const jid = await findPerson(deps, id, number);
      const page = await runOperation(id, (session) => session.business.catalog(jid, { limit, cursor }));
      const { products, next_cursor } = cleanFromNetwork(page);
      return new OkResponse(products, {
        beside: { pagination: { limit, next_cursor, has_more: next_cursor !== null } },
      });
    },
  };
}

/** Null if the request names nobody: the paired phone is meant. */
async function findPerson(deps: BusinessDeps, id: number, number: string | undefined): Promise<Jid | null> {
  const owner = await getInstance(deps.db, id);
  if (number === undefined) return null;
  const { jid, type } = await resolveForInstance(deps.findCountry, id, { number });
  if (type === "group") throw invalidField("number", "must be the number or JID of a person", "not_a_person");
  return deps.numbers.resolve(owner, jid);
}
