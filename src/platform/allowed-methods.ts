import type { Contract } from "./route.ts";

/** The methods that the contract knows at a path; none when the path is unknown. */
export function createAllowedMethods(contract: Contract): (path: string) => string[] {
  const rows = Object.values(contract).map(({ http }) => {
    const [method = "", pattern = ""] = http.split(" ");
    return { method, pattern: new RegExp(`^${toPattern(pattern)}/?$`) };
  });
  return (path) => {
    const methods = rows.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    return [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)];
  };
}

function toPattern(path: string): string {
  if (path === "/") return "";
  return path
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("/");
}
