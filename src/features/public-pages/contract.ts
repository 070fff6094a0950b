import { z } from "zod";
import { route } from "../../platform/route.ts";

const tag = "Public pages";

export const publicPagesContract = {
  home: route({
    http: "GET /",
    access: "public",
    tag,
    summary: "What this is, and where to go from here",
    input: z.object({}),
    output: z.never(),
    raw: "text/html",
  }),
  openApi: route({
    http: "GET /openapi.json",
    access: "public",
    tag,
    summary: "This description",
    input: z.object({}),
    output: z.never(),
    raw: "application/json",
  }),
  docs: route({
    http: "GET /docs",
    access: "public",
    tag,
    summary: "Interactive reference",
    input: z.object({}),
    output: z.never(),
    raw: "text/html",
  }),
  docsAsset: route({
    http: "GET /docs/assets/:file",
    access: "public",
    tag,
    summary: "A file of the interactive reference",
    input: z.object({ file: z.string().max(100) }),
    output: z.never(),
    raw: "*/*",
  }),
};
