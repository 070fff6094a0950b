import { type Client, createClient } from "../src/client/client.ts";

/** Password of the owner and of the tests' users. */
export const PASSWORD = "correct horse battery staple";
export const OWNER = { email: "owner@example.com", password: PASSWORD };

export interface SignedIn {
  client: Client;
  token: string;
  /** For requests without the client. */
  headers: { authorization: string };
}

/** Signs in as the owner, or as the user with this email. */
export async function signIn(
  url: string,
  { email, password = PASSWORD }: { email: string; password?: string } = OWNER,
): Promise<SignedIn> {
  const { token } = await createClient({ baseUrl: url }).login({ email, password });
  return {
    client: createClient({ baseUrl: url, token }),
    token,
    headers: { authorization: `Bearer ${token}` },
  };
}
