import type { Contract } from "./route.ts";

/** The methods of the contract at a path; none if the path is unknown. */
export function createAllowedMethods(contract: Contract): (path: string) => string[] {
  const rows = Object.values(contract).map(({ http }) => {
    const [method = "", path = ""] = http.split(" ");
    return { method, parts: partsOf(path) };
  });
  return (path) => {
    const requested = partsOf(path);
    const methods = rows.filter(({ parts }) => isAt(parts, requested)).map(({ method }) => method);
    return [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)];
  };
}

function partsOf(path: string): string[] {
  return (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
}

/** A part such as `:id` matches any non-empty text. */
function isAt(parts: readonly string[], requested: readonly string[]): boolean {
  return (
    parts.length === requested.length &&
    parts.every((part, at) => (part.startsWith(":") ? requested[at] !== "" : part === requested[at]))
  );
}
