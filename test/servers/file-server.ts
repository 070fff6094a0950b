import type { ServerResponse } from "node:http";
import { startLocalServer } from "./local-server.ts";

type Serve = (response: ServerResponse) => void;

/** A file server with configurable faults. */
export interface FileServer {
  /** URL of a path. */
  at(path: string): string;
  /** Sets the response of a path and returns its URL. */
  serve(path: string, how: Serve): string;
  /** Requested paths in order. */
  readonly asked: string[];
  close(): Promise<void>;
}

export async function startFileServer(): Promise<FileServer> {
  const served = new Map<string, Serve>();
  const asked: string[] = [];
  const { url, shut } = await startLocalServer((request, response) => {
    const path = request.url ?? "/";
    asked.push(path);
    const how = served.get(path);
    if (how) how(response);
    else response.writeHead(404).end("nothing here");
  });
  const at = (path: string) => `${url}${path}`;
  return {
    at,
    asked,
    serve(path, how) {
      served.set(path, how);
      return at(path);
    },
    close: shut,
  };
}

/** A complete file with its content type. */
export function file(bytes: Uint8Array, type = "application/octet-stream"): Serve {
  return (response) => response.writeHead(200, { "content-type": type }).end(bytes);
}

/** A byte now and then, endlessly. */
export function drip(type = "image/png"): Serve {
  return (response) => {
    response.writeHead(200, { "content-type": type });
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
  };
}

/** Declares `length` and sends these bytes. */
export function lyingAboutLength(length: number, bytes: Uint8Array): Serve {
  return (response) => {
    response.on("error", () => {});
    response.writeHead(200, { "content-type": "image/png", "content-length": length });
    response.write(bytes);
  };
}

/** Endless bytes without a length. */
export function endless(): Serve {
  return (response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const piece = Buffer.alloc(65_536, 1);
    const write = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", write);
    write();
  };
}

export function redirect(to: string): Serve {
  return (response) => response.writeHead(302, { location: to }).end();
}
