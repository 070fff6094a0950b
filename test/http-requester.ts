/** An unmodified response, including refusals. */
export interface RawHttpResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came.
  body: any;
}

/** Sends a JSON body and reads the response. `headers` carry credentials. */
export type HttpRequester = (
  http: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<RawHttpResponse>;

/** For requests that the typed client cannot send or show: wrong bodies, other spellings, raw refusals. */
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
