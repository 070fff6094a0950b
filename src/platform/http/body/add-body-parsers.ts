import { type Readable, Transform } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../gateway-error.ts";
import { overloadedError } from "../load-shedder.ts";
import type { BodyMemoryBudget } from "./body-memory-budget.ts";
import { FileBody, FormBody } from "./form-body.ts";
import { parseJsonBody } from "./parse-json-body.ts";

const MOST_FIELDS = 1_000;

const CHARSET = /charset\s*=\s*"?([^";\s]+)/i;

/** Parses JSON in UTF-8 and, on some routes, forms with or without files; an empty body of any type counts as absent. */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer) => {
      refuseOtherEncodings(request);
      if (request.routeOptions.config.keepBytes) {
        request.bytes = body;
        return undefined;
      }
      return parseJsonBody(body, request.routeOptions.config.bodyLimitValues);
    },
  );
  app.addContentTypeParser("multipart/form-data", async (request: FastifyRequest, body: Readable) =>
    isEmptyBody(request) ? undefined : new FormBody(body, request.headers["content-type"] ?? ""),
  );
  app.addContentTypeParser(
    "text/csv",
    { parseAs: "buffer" },
    async (_request: FastifyRequest, bytes: Buffer) =>
      bytes.length === 0 ? undefined : new FileBody(bytes, "text/csv"),
  );
  app.addContentTypeParser("application/x-www-form-urlencoded", readForm);
  app.addContentTypeParser("*", async (request: FastifyRequest) => {
    if (!isEmptyBody(request)) throw unsupportedMediaType();
    return undefined;
  });
}

/** Only some routes take forms: browsers send them for any site, without asking the gateway first. */
async function readForm(request: FastifyRequest, body: Readable): Promise<unknown> {
  if (isEmptyBody(request)) return undefined;
  const { config, bodyLimit } = request.routeOptions;
  if (!config.takesForm) throw unsupportedMediaType();
  refuseOtherEncodings(request);
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Destroying the body would close the connection before the response.
  for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bodyLimit)
      throw new GatewayError("PAYLOAD_TOO_LARGE", "The body is too large.", {
        headers: { connection: "close" },
      });
    pieces.push(piece);
  }
  return parseFormBody(Buffer.concat(pieces));
}

/** Bounds the bodies in memory to the budget; forms go to disk. Runs once the caller is known. */
export function addBodyMemoryLimit(app: FastifyInstance, budget: BodyMemoryBudget): void {
  app.addHook("preParsing", (request, reply, payload, done) => {
    const { headers, routeOptions } = request;
    const type = headers["content-type"] ?? "";
    // Bodies from other nodes were counted there.
    const isCounted = !routeOptions.config.isExpected;
    if (isEmptyBody(request) || !isCounted || /^multipart\//i.test(type)) return done();
    reply.raw.once("close", () => budget.release(request));
    if (headers["transfer-encoding"] !== undefined) {
      if (isUnauthenticated(request)) return done(closing(reply, noLength()));
      const body = counted(payload, (bytes, pieces) => {
        if (isTooFragmented(bytes, pieces)) throw closing(reply, tooFragmented());
        return reply.raw.closed || budget.reserve(request, bytes);
      });
      // Discards the rest of the body after the response, before the next request of the connection.
      reply.raw.once("close", () => body.resume());
      return done(null, body);
    }
    const bytes = Number(headers["content-length"]);
    // A body above the route's limit gets that error instead.
    const isWithinLimit = bytes <= (routeOptions.bodyLimit ?? bytes);
    if (isWithinLimit && !budget.reserve(request, bytes)) return done(noMemoryLeft());
    done();
  });
}

/** Counts a body of unknown length as it arrives. */
function counted(body: Readable, isAdmitted: (bytes: number, pieces: number) => boolean): Readable {
  let bytes = 0;
  let pieces = 0;
  const counter = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      pieces += 1;
      try {
        if (isAdmitted(bytes, pieces)) done(null, piece);
        else done(noMemoryLeft());
      } catch (refusal) {
        body.unpipe(counter);
        done(refusal as Error);
      }
    },
  });
  body.once("error", (error) => counter.destroy(error));
  // The reader may no longer listen for errors.
  counter.on("error", () => {});
  return body.pipe(counter);
}

/** Each piece has a fixed cost, however small it is. */
const FREE_PIECES = 4_096;
const LEAST_PIECE_BYTES = 64;

function isTooFragmented(bytes: number, pieces: number): boolean {
  return pieces > FREE_PIECES && bytes < pieces * LEAST_PIECE_BYTES;
}

/** A signed body comes from a sender whose path token was already verified. */
function isUnauthenticated({ caller, routeOptions }: FastifyRequest): boolean {
  return caller?.kind === "public" && !routeOptions.config.keepBytes;
}

/** Closes the connection, since the rest of the body is not read. */
function closing(reply: FastifyReply, refusal: GatewayError): GatewayError {
  if (!reply.sent) reply.header("connection", "close");
  return refusal;
}

function tooFragmented(): GatewayError {
  return new GatewayError(
    "VALIDATION_ERROR",
    `The body arrives in chunks smaller than ${LEAST_PIECE_BYTES} bytes. Send larger chunks, or Content-Length.`,
  );
}

function noLength(): GatewayError {
  return new GatewayError("VALIDATION_ERROR", "The body has no length. Send Content-Length.");
}

function noMemoryLeft(): GatewayError {
  return overloadedError("Too many large bodies are under way. Try again soon, or send files as forms.");
}

/** Whether a request has no body. */
export function isEmptyBody({ headers }: FastifyRequest): boolean {
  return Number(headers["content-length"] ?? "0") === 0 && headers["transfer-encoding"] === undefined;
}

function refuseOtherEncodings({ headers }: FastifyRequest): void {
  const charset = CHARSET.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8";
  const encoding = headers["content-encoding"] ?? "identity";
  if (!/^utf-?8$/i.test(charset) || encoding !== "identity") throw unsupportedMediaType();
}

export function unsupportedMediaType(): GatewayError {
  return new GatewayError(
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the body as JSON in UTF-8, with the header Content-Type: application/json and without Content-Encoding.",
  );
}

/** The fields of an HTML form; a name may occur once. Throws VALIDATION_ERROR. */
export function parseFormBody(bytes: Buffer): Record<string, string> {
  const text = bytes.toString("utf8");
  if (text.split("&", MOST_FIELDS + 1).length > MOST_FIELDS)
    throw new GatewayError("VALIDATION_ERROR", `The form has more than ${MOST_FIELDS} fields.`);
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name))
      throw new GatewayError(
        "VALIDATION_ERROR",
        `The form has the field ${name.slice(0, 100)} more than once.`,
      );
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
