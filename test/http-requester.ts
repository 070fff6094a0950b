/** An answer as it came, refusals too. */
export interface RawHttpResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came.
  body: any;
}

/** Sends a request with a JSON body, and reads the answer; `headers` take credentials. */
export type HttpRequester = (
  http: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<RawHttpResponse>;

/** For what the typed client cannot say or show: wrong bodies, other spellings, the bytes of a refusal. */
export function createHttpRequester(url: () => string): HttpRequester {
  return async (http, body, headers = {}) => {
    const [method = "GET", path = "/"] = http.split(" ");
    const response = await fetch(url() + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return {
      status: response.status,
      headers: response.headers,
      body: await (isJson ? response.json() : response.arrayBuffer()),
    };
  };
}
