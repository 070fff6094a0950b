import optimizeLocales from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { toClientRoutes } from "../src/client/to-client-routes.ts";
import { contract } from "../src/contract.ts";

const ROUTES = "virtual:gateway-routes";
const GATEWAY = process.env.WAYGATE_DEV_URL ?? "http://127.0.0.1:3000";

/** Bundles the routes as plain data, without the schemas. */
function gatewayRoutes(): Plugin {
  return {
    name: "gateway-routes",
    resolveId: (id) => (id === ROUTES ? `\0${ROUTES}` : undefined),
    load: (id) =>
      id === `\0${ROUTES}` ? `export const routes = ${JSON.stringify(toClientRoutes(contract))};` : undefined,
  };
}

export default defineConfig({
  base: "/panel/",
  plugins: [
    gatewayRoutes(),
    { ...optimizeLocales.vite({ locales: ["pt-BR", "en-US", "es-ES"] }), enforce: "pre" } as Plugin,
    react(),
  ],
  build: {
    outDir: "../dist/panel",
    emptyOutDir: true,
    // The CSP allows neither inline scripts nor data: fonts.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssTarget: ["chrome123", "firefox128", "safari17.5"],
    reportCompressedSize: false,
    license: { fileName: "licenses.md" },
    manifest: "manifest.json",
  },
  server: {
    proxy: Object.fromEntries(["/api", "/docs", "/link", "/health"].map((path) => [path, GATEWAY])),
  },
});
