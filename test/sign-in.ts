import { type Client, createClient } from "../src/client/client.ts";

/** The password of the owner and of the other users that tests create. */
export const PASSWORD = "correct horse battery staple";
export const OWNER = { email: "owner@example.com", password: PASSWORD };

export interface SignedIn {
  client: Client;
  token: string;
  /** For requests without the client. */
  headers: { authorization: string };
}

/** Signs in at a gateway: the owner, or the user with this email. */
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
