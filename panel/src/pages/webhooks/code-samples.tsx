import { useState } from "react";
import { useTranslations } from "use-intl";
import { CodeSample } from "../../components/code-sample.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";

const NAMES = { node: "Node.js", python: "Python", php: "PHP", go: "Go", curl: "curl" } as const;

export function CodeSamples({ url }: { url: string }) {
  const t = useTranslations("webhooks.samples");
  const [language, setLanguage] = useState<keyof typeof NAMES>("node");
  const place = `<${t("place")}>`;
  return (
    <section className="card">
      <h3>{t("title")}</h3>
      <p>{t("lead", { place: `“${place}”` })}</p>
      <PickList<keyof typeof NAMES>
        label={t("language")}
        value={language}
        options={NAMES}
        hint={t(language)}
        onChange={setLanguage}
      />
      <CodeSample text={codeSamples({ place, url })[language]} label={NAMES[language]} />
      <p>
        <a href="/docs/waygate/verifying-webhooks">{t("guide")}</a>
      </p>
    </section>
  );
}

/** Sample receivers. `place` marks where the secret belongs. */
function codeSamples({ place, url }: { place: string; url: string }) {
  return {
    node: `import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { verifyWebhook } from "@waygate/webhooks";

const secret = "${place}";

createServer(async (request, response) => {
  try {
    // Verifies the raw bytes: re-serialized JSON has another signature.
    const body = await buffer(request);
    const event = await verifyWebhook({ headers: request.headers, body }, { secret });
    response.writeHead(204).end();
    console.log(event.event, event.data);
  } catch {
    response.writeHead(401).end();
  }
}).listen(8080);`,
    python: `from flask import Flask, abort, request
from standardwebhooks import Webhook

SECRET = "${place}"
app = Flask(__name__)

@app.post("/hook")
def hook():
    try:
        event = Webhook(SECRET).verify(request.get_data(), dict(request.headers))
    except Exception:
        abort(401)
    print(event["event"], event["data"])
    return "", 204`,
    php: `<?php
require 'vendor/autoload.php';

$webhook = new \\StandardWebhooks\\Webhook('${place}');
$headers = array_change_key_case(getallheaders(), CASE_LOWER);
try {
    $event = $webhook->verify(file_get_contents('php://input'), $headers);
} catch (\\Throwable) {
    http_response_code(401);
    exit;
}
http_response_code(204);
error_log($event['event']);`,
    go: `package main

import (
	"io"
	"log"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook("${place}")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/hook", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err != nil || webhook.Verify(body, request.Header) != nil {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		response.WriteHeader(http.StatusNoContent)
		log.Println(string(body))
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}`,
    curl: `SECRET='${place}'
BODY='{"event":"message.received","data":{}}'
SIGNATURE="sha256=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')"
curl -i -X POST '${url.replaceAll("'", "%27")}' \\
  -H 'content-type: application/json' \\
  -H "x-waygate-signature: $SIGNATURE" \\
  -d "$BODY"`,
  } as const;
}
