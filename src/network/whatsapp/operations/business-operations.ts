import type { WASocket } from "baileys";
import type { CatalogPage, Product } from "../../business.ts";
import type { Jid } from "../../driver.ts";
import type { BusinessOperations } from "../../session-operations.ts";
import { findPerson } from "./contact-operations.ts";
import type { OperationContext } from "./operation-context.ts";
import { errorCodeOf, OperationError } from "./operation-error.ts";

type BaileysProduct = Awaited<ReturnType<WASocket["getCatalog"]>>["products"][number];

export function createBusinessOperations(context: OperationContext): BusinessOperations {
  const { pending } = context;
  return {
    catalog: (jid, page) => pending.run(() => readCatalog(context, jid, page)),
  };
}

async function personOf(context: OperationContext, jid: Jid | null) {
  return jid === null ? context.identities.me : (await findPerson(context, jid)).person;
}

async function readCatalog(
  context: OperationContext,
  jid: Jid | null,
  { limit, cursor }: { limit: number; cursor: string | null },
): Promise<CatalogPage> {
  const person = await personOf(context, jid);
  try {
    const page = await context.sock.getCatalog({ jid: person.jid, limit, ...(cursor && { cursor }) });
    const products = page.products.map((product) => toProduct(product, context));
    return { products, next_cursor: page.nextPageCursor || null };
  } catch (error) {
    if (errorCodeOf(error) !== 404) throw error;
    throw new OperationError("NOT_FOUND", "This person has no catalogue.");
  }
}

function toProduct(product: BaileysProduct, { hosts }: Pick<OperationContext, "hosts">): Product {
  const { id, name, description, price, currency, url, imageUrls, retailerId, isHidden } = product;
  const image = imageUrls.original ?? imageUrls.requested;
  return {
    id: id ?? "",
    name: name ?? "",
    description: description || null,
    // Baileys reads a missing price as NaN.
    price: Number.isFinite(price) ? price / THOUSANDTHS : null,
    currency: currency || null,
    url: url || null,
    // Clients fetch it.
    image_url: image && URL.canParse(image) && hosts.allows(new URL(image)) ? image : null,
    retailer_id: retailerId || null,
    is_hidden: isHidden === true,
  };
}

/** The network counts prices in thousandths of the currency's unit. */
const THOUSANDTHS = 1000;
