import type { FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../gateway-error.ts";
import type { Authorise, AuthoriseRequest, Caller } from "./handler.ts";
import { readCredential, rejectCredentialsInQuery } from "./read-credential.ts";
import type { Route } from "./route.ts";

const ROW_ID = /^[1-9]\d{0,15}$/;

type Fields = Record<string, unknown>;

/** Identifies the caller by the request's single credential. Throws the error of the central access check. */
export async function identifyCaller(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  authorise: Authorise,
  { isRecheck = false } = {},
): Promise<Caller> {
  rejectCredentialsInQuery(request.query as Fields);
  const credential = readCredential(request.raw.rawHeaders);
  const responseHeaders: Record<string, string> = {};
  const pathToken = route.pathToken && toPathToken(request.params as Fields);
  const asked: AuthoriseRequest = { credential, pathToken, ip: request.ip, responseHeaders, isRecheck };
  try {
    if (route.access === "public") return await identifyOnPublic(route, asked, authorise);
    const instanceId = route.access === "instance" ? toInstanceId(request.params as Fields) : undefined;
    return await authorise(route, instanceId === undefined ? asked : { ...asked, instanceId });
  } finally {
    if (!isRecheck) reply.headers(responseHeaders);
  }
}

/** A public route may return more to an operator; every other caller is an ordinary public one. */
async function identifyOnPublic(
  route: Route,
  asked: AuthoriseRequest,
  authorise: Authorise,
): Promise<Caller> {
  if (asked.credential?.kind !== "admin" || route.pathToken) return authorise(route, asked);
  try {
    return await authorise({ ...route, access: "admin" }, asked);
  } catch (error) {
    if (error instanceof GatewayError) return authorise(route, asked);
    throw error;
  }
}

function toPathToken(params: Fields): { instanceId: number; token: string } {
  return { instanceId: toInstanceId(params), token: String(params.token) };
}

/** 0 if the path names no instance: the access check rejects it once the caller is known. */
function toInstanceId({ id }: Fields): number {
  const number = typeof id === "string" && ROW_ID.test(id) ? Number(id) : 0;
  return Number.isSafeInteger(number) ? number : 0;
}
