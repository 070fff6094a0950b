import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { WhatsAppControl } from "../control.ts";
import type { WhatsAppServer } from "../server.ts";
import { connectControl } from "./remote-control.ts";

export interface WhatsAppServerProcess extends WhatsAppServer {
  pid: number;
  /** For `connectControl` in another process. */
  controlUrl: string;
}

/** Runs a built `main.js`, which ends with this process. */
export async function spawnWhatsAppServer(
  mainJs: string,
  options: { env?: NodeJS.ProcessEnv } = {},
): Promise<WhatsAppServerProcess> {
  const child = spawn(process.execPath, [mainJs], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...options.env },
  });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  const line = await new Promise<string>((done, failed) => {
    createInterface(child.stdout).once("line", done);
    child.once("exit", (code) => failed(new Error(`the WhatsApp server ended with ${code}`)));
  });
  const { url, rootKeyHex, caFile, controlUrl } = JSON.parse(line) as Record<string, string>;
  const control: WhatsAppControl = connectControl(controlUrl ?? "");
  return {
    url: url ?? "",
    rootKeyHex: rootKeyHex ?? "",
    caFile: caFile ?? "",
    control,
    controlUrl: controlUrl ?? "",
    pid: child.pid ?? 0,
    close: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
