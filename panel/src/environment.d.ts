declare module "*.css";

/** Written by vite.config.ts from the contract. */
declare module "virtual:gateway-routes" {
  export const routes: Readonly<
    Record<string, import("../../packages/client/src/create-methods.ts").ClientRoute>
  >;
}
