import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { startLocalServer } from "./local-server.ts";

type ScriptedResponse = (response: ServerResponse) => void;

/** Simulates web.whatsapp.com, where the gateway reads the web client's version. */
export interface WebClientServer {
  readonly origin: string;
  /** All requests in order. */
  readonly requests: { path: string; headers: IncomingHttpHeaders }[];
  /** Sets the revision on both pages. */
  publish(revision: number): void;
  /** Overrides the response of a path. */
  respond(path: "/sw.js" | "/" | "/versions.json", how: ScriptedResponse): void;
  close(): Promise<void>;
}

export async function startWebClientServer(revision: number): Promise<WebClientServer> {
  const requests: WebClientServer["requests"] = [];
  const responses = new Map<string, ScriptedResponse>();
  const { url, shut } = await startLocalServer(({ url: path = "/", headers }, response) => {
    requests.push({ path, headers });
    const isBrowser =
      path === "/versions.json" ||
      (headers["sec-fetch-site"] === "none" && /Chrome\/\d/.test(headers["user-agent"] ?? ""));
    const how = responses.get(path);
    if (!isBrowser || !how) response.writeHead(isBrowser ? 404 : 400).end("Sorry, something went wrong.");
    else how(response);
  });
  const publish = (now: number): void => {
    responses.set("/sw.js", (response) => response.end(serviceWorkerOf(now)));
    responses.set("/", (response) => response.end(pageOf(now)));
  };
  publish(revision);
  return {
    origin: url,
    requests,
    publish,
    respond: (path, how) => void responses.set(path, how),
    close: shut,
  };
}

/** JSON inside a string, as in the service worker. */
export function serviceWorkerOf(revision: number): string {
  const data = JSON.stringify({ server_revision: revision, client_revision: revision, push_phase: "C3" });
  return `self.__swData=JSON.parse(${JSON.stringify(data)});importScripts("/sw-bundle.js");`;
}

function pageOf(revision: number): string {
  const data = JSON.stringify({ SiteData: { server_revision: revision, client_revision: revision } });
  return `<!DOCTYPE html><html><script type="application/json">${data}</script></html>`;
}
