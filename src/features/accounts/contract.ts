import { z } from "zod";
import { route } from "../../platform/route.ts";

const account = z.object({
  id: z.number(),
  name: z.string(),
  account_type: z.enum(["owner", "reseller", "client"]),
  status: z.enum(["active", "trial", "paused", "blocked", "expired", "cancelled"]),
});

const user = z.object({
  id: z.number(),
  name: z.string(),
  email: z.string(),
  role: z.enum(["super_admin", "admin", "agent"]),
});

const signedIn = z.object({
  token: z.string().describe("The JWT, for `Authorization: Bearer`."),
  token_type: z.literal("Bearer"),
  expires_in: z.number().int().describe("Seconds."),
  account,
  user,
});

const besideSignedIn = z.object({ token: z.string(), accountId: z.number() });

const tag = "Account";

export const accountsContract = {
  login: route({
    http: "POST /api/auth/login",
    access: "public",
    tag,
    summary: "Sign in and get the token of the account",
    message: "Signed in",
    aliases: { email: ["username", "login"], password: ["senha"] },
    input: z.object({
      email: z.string().trim().min(1).max(320),
      password: z.string().min(1).max(1024),
    }),
    output: signedIn,
    beside: besideSignedIn,
  }),
  logout: route({
    http: "POST /api/auth/logout",
    access: "account",
    tag,
    summary: "Sign out: the token stops working",
    message: "Signed out",
    input: z.object({}),
    output: z.object({}),
  }),
  me: route({
    http: "GET /api/auth/me",
    access: "account",
    tag,
    summary: "Who is signed in",
    message: "Signed in",
    input: z.object({}),
    output: z.object({ account, user }),
  }),
  changePassword: route({
    http: "POST /api/auth/password",
    access: "account",
    tag,
    summary: "Change the password: every token of the user stops working and a new one is given",
    message: "Password changed",
    aliases: {
      current_password: ["currentPassword", "old_password", "password"],
      new_password: ["newPassword"],
    },
    input: z.object({
      current_password: z.string().min(1).max(1024),
      new_password: z.string().min(1).max(1024).describe("12 to 1024 characters, not a common one."),
    }),
    output: signedIn,
    beside: besideSignedIn,
  }),
};
