import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/platform/config/package-version.ts";

/** A build of the gateway, and the Node that runs it. */
export interface GatewayProgram {
  /** In labels, where several are measured. */
  name: string;
  /** The folder that `dist` is in. */
  root: string;
  node: string;
  /** Records where time goes; costs some itself. */
  isProfiled: boolean;
}

/** The bundle; before there was one, and for a profile by source file, the compiled modules. */
export function findMain({ root, isProfiled }: GatewayProgram): string {
  const bundle = join(root, "dist/program/main.js");
  return !isProfiled && existsSync(bundle) ? bundle : join(root, "dist/src/main.js");
}

/** The build of this folder on the Node of the bench. */
export const PRESENT: GatewayProgram = {
  name: "now",
  root: packageRoot(),
  node: process.execPath,
  isProfiled: false,
};
