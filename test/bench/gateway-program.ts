import { packageRoot } from "../../src/platform/config/package-version.ts";

/** A build of the gateway, and the Node that runs it. */
export interface GatewayProgram {
  /** In labels, where several are measured. */
  name: string;
  /** The folder that `dist/src/main.js` is in. */
  root: string;
  node: string;
  /** Records where time goes; costs some itself. */
  isProfiled: boolean;
}

/** The build of this folder on the Node of the bench. */
export const PRESENT: GatewayProgram = {
  name: "now",
  root: packageRoot(),
  node: process.execPath,
  isProfiled: false,
};
