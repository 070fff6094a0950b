import { z } from "zod";
import { type Contract, route } from "../../platform/http/route.ts";

const tag = "OAuth";
/** Each handler checks its own parameters, because OAuth defines the errors. */
const input = z.record(z.string(), z.unknown());
const json = { access: "public", tag, input, output: z.never(), raw: "application/json" } as const;
const page = { access: "public", tag, input, output: z.never(), raw: "text/html" } as const;
/** A registration stores a row. */
const REGISTRATION_COST = 10;
/** The page may fetch the document of a client. */
const AUTHORIZE_COST = 3;

/**
 * The OAuth endpoints of the gateway. They are not part of openapi.json: their own metadata documents describe them,
 * and OAuth defines their bodies and errors.
 */
export const oauthWireContract = {
  authorizationServer: route({
    ...json,
    http: "GET /.well-known/oauth-authorization-server",
    summary: "Describe the authorization server (RFC 8414)",
  }),
  protectedResource: route({
    ...json,
    http: "GET /.well-known/oauth-protected-resource",
    summary: "Describe the resource /mcp (RFC 9728)",
  }),
  protectedResourceOfMcp: route({
    ...json,
    http: "GET /.well-known/oauth-protected-resource/mcp",
    summary: "Describe the resource /mcp (RFC 9728), at the address that belongs to it",
  }),
  registerClient: route({
    ...json,
    http: "POST /oauth/register",
    summary: "Register a client (RFC 7591)",
    cost: REGISTRATION_COST,
    bodyLimitBytes: 16_384,
    errorFormat: "oauth",
  }),
  authorizePage: route({
    ...page,
    http: "GET /oauth/authorize",
    summary: "Open the page on which a user signs in to connect an assistant",
    cost: AUTHORIZE_COST,
  }),
  authorizeSignIn: route({
    ...page,
    http: "POST /oauth/authorize",
    summary: "Sign in and see what the assistant asks for",
    cost: AUTHORIZE_COST,
    takesForm: true,
  }),
  consentStyle: route({
    ...page,
    http: "GET /oauth/consent.css",
    summary: "Get the style of the pages",
  }),
  consent: route({
    ...page,
    http: "POST /oauth/consent",
    summary: "Allow the assistant, or not",
    takesForm: true,
  }),
  token: route({
    ...json,
    http: "POST /oauth/token",
    summary: "Get tokens for a code or a refresh token",
    takesForm: true,
    bodyLimitBytes: 16_384,
    errorFormat: "oauth",
  }),
  revokeToken: route({
    ...json,
    http: "POST /oauth/revoke",
    summary: "Revoke a token (RFC 7009)",
    takesForm: true,
    bodyLimitBytes: 16_384,
    errorFormat: "oauth",
  }),
} satisfies Contract;
