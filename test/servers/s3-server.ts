import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { type LocalServer, startLocalServer } from "./local-server.ts";

const SIGNED = /^AWS4-HMAC-SHA256 Credential=\w+\/\d{8}\/[\w-]+\/s3\/aws4_request, .*Signature=[0-9a-f]{64}$/;

/** A minimal path-style S3 server with one bucket. */
export function startS3Server(bucket: string): Promise<LocalServer> {
  const objects = new Map<string, Buffer>();
  return startLocalServer(async (request, response) => {
    const { method = "", headers } = request;
    const body = await buffer(request);
    const [, of, ...key] = decodeURIComponent(new URL(request.url ?? "", "http://s3").pathname).split("/");
    const name = key.join("/");
    const fail = (status: number, code: string) => {
      const error = `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;
      response.writeHead(status, { "content-type": "application/xml" }).end(error);
    };
    const refusal = refusalOf(request, of === bucket);
    if (refusal) return fail(...refusal);
    if (method === "PUT") objects.set(name, body);
    if (method === "DELETE") objects.delete(name);
    if (method !== "GET") return response.end();
    const object = objects.get(name);
    if (object === undefined) return fail(404, "NoSuchKey");
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "");
    return range
      ? response.writeHead(206).end(object.subarray(Number(range[1]), Number(range[2]) + 1))
      : response.end(object);
  });
}

function refusalOf({ headers }: IncomingMessage, isBucket: boolean): [number, string] | undefined {
  if (!SIGNED.test(headers.authorization ?? "")) return [403, "AccessDenied"];
  if (!isBucket) return [404, "NoSuchBucket"];
  // Newer clients send chunked checksums, which minimal servers would store as content.
  if (headers["content-encoding"] === "aws-chunked") return [501, "NotImplemented"];
  return undefined;
}
