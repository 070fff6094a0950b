import { useTranslations } from "use-intl";
import { CodeSample } from "../../components/code-sample.tsx";

const KEY = "wg_...";

/** The three ways in which an assistant reaches the tools, with what to copy. */
export function ConnectAssistant() {
  const t = useTranslations("account.connect");
  const address = `${location.origin}/mcp`;
  return (
    <section className="plate">
      <h2>{t("title")}</h2>
      <p>{t("lead")}</p>
      <h3>{t("oauth")}</h3>
      <p className="hint">{t("oauthHelp")}</p>
      <CodeSample text={address} label={t("address")} />
      <details className="more">
        <summary>{t("url")}</summary>
        <p className="hint">{t("urlHelp")}</p>
        <CodeSample text={writeUrlSettings(address)} label={t("urlSample")} />
      </details>
      <details className="more">
        <summary>{t("command")}</summary>
        <p className="hint">{t("commandHelp")}</p>
        <CodeSample text={writeCommandSettings(location.origin)} label={t("commandSample")} />
      </details>
      <p className="hint">{t("reach")}</p>
      <a href="/docs/waygate/assistant-tools">{t("guide")}</a>
    </section>
  );
}

function writeUrlSettings(url: string): string {
  const headers = { Authorization: `Bearer ${KEY}` };
  return JSON.stringify({ mcpServers: { waygate: { type: "http", url, headers } } }, null, 2);
}

function writeCommandSettings(origin: string): string {
  const args = ["run", "--silent", "--prefix", "/opt/waygate", "mcp"];
  const env = { WAYGATE_BASE_URL: origin, WAYGATE_API_KEY: KEY };
  return JSON.stringify({ mcpServers: { waygate: { command: "npm", args, env } } }, null, 2);
}
