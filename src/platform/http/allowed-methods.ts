import type { Contract } from "./route.ts";

/** The methods of the contract at a path; none if the path is unknown. */
export function createAllowedMethods(contract: Contract): (path: string) => string[] {
  const rows = Object.values(contract).map(({ http }) => {
    const [method = "", path = ""] = http.split(" ");
    return { method, parts: partsOf(path) };
  });
  return (path) => {
    const given = partsOf(path);
    const methods = rows.filter(({ parts }) => isAt(parts, given)).map(({ method }) => method);
    return [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)];
  };
}

function partsOf(path: string): string[] {
  return (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
}

/** A part such as `:id` matches any non-empty text. */
function isAt(parts: readonly string[], given: readonly string[]): boolean {
  return (
    parts.length === given.length &&
    parts.every((part, at) => (part.startsWith(":") ? given[at] !== "" : part === given[at]))
  );
}
