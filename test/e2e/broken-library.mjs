// Preloaded: importing Baileys fails, as after a damaged installation.
import { register } from "node:module";

const hooks = `export async function resolve(specifier, context, next) {
  if (/\\/bundled-baileys-/.test(specifier)) throw new Error("baileys is broken on purpose");
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
