import { z } from "zod";
import {
  ASSISTANT_SCOPES,
  isoTime,
  pagination,
  removedRow,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";

const tag = "Assistant tools";

const assistant = named(
  "Assistant",
  z.object({
    id: z.number().int(),
    client_name: z.string().describe("Chosen by the application; nobody has checked it."),
    client_id: z.string(),
    redirect_host: z.string().describe("Where the browser went after the user had agreed."),
    user: z.object({ id: z.number().int(), name: z.string() }),
    instance_ids: z.array(z.number().int()),
    scopes: z.array(z.enum(ASSISTANT_SCOPES)),
    created_at: isoTime,
    expires_at: isoTime.describe("The assistant has to ask its user again after this time."),
    last_used_at: isoTime.nullable(),
  }),
);

/** The assistants that users have connected through OAuth. */
export const oauthContract = {
  listAssistants: route({
    http: "GET /api/account/assistants",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "List the assistants that are connected through OAuth, newest first; an agent sees its own",
    message: "Assistants",
    aliases: searchAliases,
    input: z.object(searchInput),
    output: z.array(assistant),
    beside: z.object({ pagination }),
  }),
  disconnectAssistant: route({
    http: "DELETE /api/account/assistants/:id",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "Disconnect an assistant; its tokens stop working at once",
    message: "Assistant disconnected",
    input: z.object({ id: rowId }),
    output: removedRow,
  }),
};
