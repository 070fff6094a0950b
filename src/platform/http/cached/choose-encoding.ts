/** How a body is compressed. */
export type Encoding = "br" | "gzip" | "identity";

/** The best of the copies that a client accepts, by its Accept-Encoding header. */
export function chooseEncoding(accepted: string | undefined): Encoding {
  const names = new Set((accepted ?? "").toLowerCase().split(",").map(nameOf));
  if (names.has("br")) return "br";
  return names.has("gzip") || names.has("*") ? "gzip" : "identity";
}

/** Empty if the client rules the encoding out. */
function nameOf(entry: string): string {
  const [name = "", ...parameters] = entry.split(";").map((part) => part.trim());
  return parameters.some((one) => /^q=0(\.0{0,3})?$/.test(one)) ? "" : name;
}
