import { invalidField } from "../../gateway-error.ts";
import type { Route } from "../route.ts";
import { explainUnknownName } from "./explain-unknown-name.ts";
import { findShape } from "./find-shape.ts";
import { MAX_NAME } from "./invalid-input.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Throws VALIDATION_ERROR for a parameter that the route does not read, or that belongs into the body. Without this, a misspelt filter would return the whole list, and a field beside a JSON body would do nothing. Pages and
 * calls of other programs may have parameters of their own.
 */
export function refuseUnknownQuery(route: Route, query: Fields, isForm: boolean): void {
  const { access, aliases = {}, http, input } = route;
  const shape = findShape(input);
  if (access === "public" || shape === undefined) return;
  const isRead = isForm || /^(GET|DELETE) /.test(http);
  const names = isRead ? namesInQuery(http, Object.keys(shape)) : [];
  const others = isRead ? Object.values(aliases).flat() : [];
  const known = new Set([...names, ...others].map(firstPart));
  const unknown = Object.keys(query).find((name) => !known.has(firstPart(name)));
  if (unknown === undefined) return;
  const field = unknown.slice(0, MAX_NAME);
  const issue = isRead ? explainUnknown(route, field, names, others) : NOT_IN_QUERY;
  throw invalidField(field, issue, isRead ? "unknown_field" : "not_allowed_here");
}

const NOT_IN_QUERY = "is not read in the query of this request. Send it in the JSON body.";

function explainUnknown(
  { beside, raw }: Route,
  field: string,
  names: readonly string[],
  aliases: readonly string[],
): string {
  const isList = (beside !== undefined && "pagination" in beside.shape) || raw === "text/csv";
  const [one, all] = isList
    ? ["a filter of this list", "Filters"]
    : ["a parameter of this route", "Parameters"];
  return explainUnknownName(field, { one, all, names, aliases });
}

/** The fields that the path does not have. */
function namesInQuery(http: string, names: readonly string[]): string[] {
  const inPath = new Set(http.split(/[/ ]/).flatMap((part) => (part.startsWith(":") ? [part.slice(1)] : [])));
  return names.filter((name) => !inPath.has(name));
}

function firstPart(name: string): string {
  return name.split(/[.[]/, 1)[0] ?? "";
}
