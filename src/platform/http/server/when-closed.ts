import type { ServerResponse } from "node:http";

/**
 * Calls back once the response is over. `isSent`: all of it was handed to the system, or to the caller in this
 * process.
 */
export function whenClosed(response: ServerResponse, callback: (isSent: boolean) => void): void {
  let isSent = false;
  response.once("finish", () => {
    isSent = true;
  });
  response.once("close", () => callback(isSent));
}
