import { QueryIds, XWAPaths } from "baileys";
import { appStateQuery } from "../app-state.ts";
import { exchangeTokens, showsProfile } from "../contact-trust.ts";
import type { Business, ServerProduct } from "../control.ts";
import { removeDevice } from "../device-notifications.ts";
import { mayChange, ServerGroup } from "../group.ts";
import { UPLOAD_AUTH } from "../media-server.ts";
import {
  type BinaryNode,
  bytes,
  childBytes,
  children,
  childrenNamed,
  failure,
  node,
  result,
  seconds,
} from "../protocol/nodes.ts";
import type { Query, QueryHandler } from "../query.ts";

const done: QueryHandler = ({ iq }: { iq: BinaryNode }) => result(iq);

const MIGRATED = "9435";
const EDITS_ENCRYPTED = "16057";

const props: QueryHandler = ({ iq, companion, network }) => {
  const config_value = companion.person.announces.props ? "1" : "0";
  return result(iq, [
    node("props", { protocol: 1, hash: "test", ab_key: "test" }, [
      node("prop", { config_code: MIGRATED, config_value }),
      node("prop", {
        config_code: EDITS_ENCRYPTED,
        config_value: network.settings.encryptedEdits ? "1" : "0",
      }),
    ]),
  ]);
};

const privacy: QueryHandler = ({ iq, first, companion, network }) => {
  const { privacy: settings } = companion.person;
  if (first?.tag === "tokens") return result(iq, exchangeTokens(network, companion.person, first));
  if (first?.tag !== "privacy") return undefined;
  for (const { attrs } of children(first)) if (attrs.name) settings.set(attrs.name, attrs.value ?? "");
  const now = [...settings].map(([name, value]) => node("category", { name, value }));
  return result(iq, [node("privacy", {}, now)]);
};

const blocklist: QueryHandler = ({ iq, first, companion, network }) => {
  const { person } = companion;
  if (iq.attrs.type === "set") {
    const other = first?.attrs.jid?.endsWith("@lid") ? network.findPerson(first.attrs.jid) : undefined;
    if (!other) return undefined;
    const { pn_jid } = first?.attrs ?? {};
    if (pn_jid !== undefined && pn_jid !== other.jid("pn")) return failure(iq, 400, "bad-request");
    if (first?.attrs.action === "block") person.blocked.add(other.phone);
    else person.blocked.delete(other.phone);
  }
  const items = [...person.blocked].map((phone) => node("item", { jid: network.person(phone).jid("lid") }));
  return result(iq, [node("list", { dhash: items.length }, items)]);
};

const picture: QueryHandler = ({ iq, first, companion, network }) => {
  const target = iq.attrs.target;
  const owner = target?.endsWith("@g.us")
    ? network.groups.get(target)
    : target
      ? network.findPerson(target)
      : companion.person;
  if (!owner) return failure(iq, 404, "item-not-found");
  if (iq.attrs.type === "set" && owner instanceof ServerGroup && !mayChange(owner, companion.person)) {
    return failure(iq, 403, "forbidden");
  }
  if (iq.attrs.type === "get") {
    const { picture } = owner;
    const isHidden = !(owner instanceof ServerGroup) && !showsProfile(owner, first, companion.person);
    if (isHidden) return failure(iq, 401, "not-authorized");
    if (!picture) return failure(iq, 404, "item-not-found");
    const url = `https://${network.media.host}${picture.path}`;
    return result(iq, [node("picture", { ...picture, url, direct_path: picture.path, type: "image" })]);
  }
  if (!first) {
    owner.picture = undefined;
    return result(iq);
  }
  owner.picture = network.media.picture(bytes(first));
  return result(iq, [node("picture", { id: owner.picture.id })]);
};

const business: QueryHandler = ({ iq, first, network }) => {
  if (first?.tag !== "business_profile") return undefined;
  const profiles = childrenNamed(first, "profile").flatMap(({ attrs: { jid } }) => {
    const { business: shown } = network.findPerson(jid) ?? {};
    return shown ? [profileNode(jid, shown)] : [];
  });
  return result(iq, [node("business_profile", { v: first.attrs.v }, profiles)]);
};

const text = (tag: string, value: string | undefined): BinaryNode[] =>
  value === undefined ? [] : [node(tag, {}, Buffer.from(value))];

const DAYS = ["mon", "tue", "wed", "thu", "fri"];

const catalog: QueryHandler = ({ iq, first, network }) => {
  if (first?.tag !== "product_catalog") return undefined;
  const { products } = network.findPerson(first.attrs.jid)?.business ?? {};
  if (!products) return failure(iq, 404, "item-not-found");
  const from = Number(childBytes(first, "after").toString() || 0);
  const to = from + Number(childBytes(first, "limit").toString());
  const paging = to < products.length ? [node("paging", {}, text("after", String(to)))] : [];
  return result(iq, [node("product_catalog", {}, [...products.slice(from, to).map(productNode), ...paging])]);
};

/** Prices are in thousandths of the currency. */
function productNode({ id, name, description, price, currency }: ServerProduct): BinaryNode {
  const amount = price === undefined ? undefined : String(price * 1000);
  return node("product", { is_hidden: "false" }, [
    ...text("id", id),
    ...text("name", name),
    ...text("description", description),
    ...text("price", amount),
    ...text("currency", currency),
  ]);
}

function profileNode(jid: string | undefined, shown: Business): BinaryNode {
  const { description, category, email, website, address, hours } = shown;
  const days = DAYS.map((day_of_week) =>
    node("business_hours_config", {
      day_of_week,
      mode: "specific_hours",
      open_time: hours?.opens,
      close_time: hours?.closes,
    }),
  );
  return node("profile", { jid }, [
    ...text("description", description),
    ...text("email", email),
    ...text("website", website),
    ...text("address", address),
    node("categories", {}, text("category", category)),
    ...(hours ? [node("business_hours", { timezone: "America/Sao_Paulo" }, days)] : []),
  ]);
}

const disappearing: QueryHandler = ({ iq, first, companion }) => {
  companion.person.disappearing = Number(first?.attrs.duration ?? 0);
  return result(iq);
};

const md: QueryHandler = ({ iq, first, companion, connection, network }) => {
  if (first?.tag !== "remove-companion-device") return undefined;
  connection.send(result(iq));
  removeDevice(network, companion, "logged out by the client");
  return result(iq);
};

const media: QueryHandler = ({ iq, network, companion }) => {
  const ordered = network.faults.take("media_host", companion.person.phone);
  const hostname = ordered?.host ?? network.media.host;
  return result(iq, [
    node("media_conn", { auth: UPLOAD_AUTH, ttl: 3600, auth_ttl: 3600, max_buckets: 12 }, [
      node("host", { hostname, maxContentLengthBytes: 2 ** 31 }),
    ]),
  ]);
};

const mex: QueryHandler = ({ iq, first, companion, network }) => {
  const fault = network.faults.take("mex_error", companion.person.phone);
  const error = { message: "ordered by the test", extensions: { error_code: fault?.code } };
  const data = fault ? null : mexData(first, companion);
  if (data === undefined) return undefined;
  const said = { data, ...(fault && { errors: [error] }) };
  return result(iq, [node("result", {}, Buffer.from(JSON.stringify(said)))]);
};

/** WhatsApp Web's mutation `WAWebMexUpdateTextStatusJob`. */
const UPDATE_TEXT_STATUS = "9152604461510864";

function mexData(asked: BinaryNode | undefined, { person }: Query["companion"]): object | undefined {
  const until = person.restrictedUntil;
  const query = asked?.attrs.query_id;
  if (query === UPDATE_TEXT_STATUS) {
    const { input } = JSON.parse(bytes(asked).toString("utf8")).variables;
    person.about = input.text ?? "";
    return { xwa2_update_text_status: { result: "SUCCESS" } };
  }
  if (query === QueryIds.REACHOUT_TIMELOCK) {
    return {
      [XWAPaths.xwa2_fetch_account_reachout_timelock]: {
        is_active: until !== undefined && until > Date.now(),
        time_enforcement_ends: until === undefined ? "0" : String(seconds(until)),
        enforcement_type: until === undefined ? "DEFAULT" : "WEB_COMPANION_ONLY",
      },
    };
  }
  if (query === QueryIds.MESSAGE_CAPPING_INFO) {
    return {
      [XWAPaths.xwa2_message_capping_info]: { total_quota: 100, used_quota: 0, capping_status: "NONE" },
    };
  }
  return undefined;
}

/** Queries about the own account. */
export const accountQueries: Record<string, QueryHandler> = {
  abt: props,
  privacy,
  blocklist,
  "w:profile:picture": picture,
  // Acknowledged without an effect since April 2026.
  status: done,
  disappearing_mode: disappearing,
  md,
  "w:m": media,
  "w:mex": mex,
  "w:biz": business,
  "w:biz:catalog": catalog,
  "w:stats": done,
  "urn:xmpp:whatsapp:dirty": done,
  "w:sync:app:state": appStateQuery,
};
