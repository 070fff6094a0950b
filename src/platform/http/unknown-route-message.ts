/** First path segments of Evolution API, uazapi and WAHA that Waygate does not use. */
const OTHER_GATEWAYS =
  /^\/(api\/)?(call|chat|contacts?|group|groups|instance|label|labels|message|profile|proxy|send|sender|sessions?|settings|webhook|(send|start|stop)[A-Z]\w{0,30}|reply|reaction)(\/|$)/;

/** The error message for an unknown route, by its path. */
export function unknownRouteMessage(path: string): string {
  if (path === "/metrics") return "There is no such route while WAYGATE_METRICS_TOKEN is not set.";
  const sentence = "There is no such route. /docs lists every route.";
  if (!OTHER_GATEWAYS.test(path)) return sentence;
  return `${sentence} /docs/waygate/migration shows what the routes of other gateways are called here.`;
}
