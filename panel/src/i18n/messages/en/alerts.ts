import { describeFinding, FINDINGS } from "../../../../../src/platform/findings.ts";

/** What needs a person, by the key and the values of the alert. */
export const alerts = {
  alerts: {
    instance: "{name} is no longer connected: {status}.",
    webhook: {
      disabled: "The webhook {name} is switched off, because it failed for too long.",
      disabledHelp: "Repair the program, switch the webhook on again, then send again what it missed.",
      fails: "The webhook {name} fails.",
    },
    webhookCause: {
      dns: "Its host name could not be resolved.",
      refused: "Its program refuses the connection.",
      reset: "Its program closes the connection without an answer.",
      tls: "The secure connection to its program fails.",
      timeout_connect: "Its host does not accept a connection in time.",
      timeout_total: "Its program takes too long to answer.",
      blocked: "The gateway may not call its address.",
      invalid_url: "Its address is not valid.",
      protocol: "What answers at its address is not a web server.",
      redirect: "Its address redirects (status {status}).",
      refusal: "Its program refuses the events (status {status}).",
      crash: "Its program answers with an error (status {status}).",
      starting: "n8n is starting and discards the events.",
      unknown: "No answer comes from its program.",
    },
    webhookHelp: {
      dns: "Check the host name in its address and its DNS entry. If other webhooks fail too, check the DNS of the gateway.",
      refused: "Start the program, and check host and port of the address.",
      reset: "Read the log of the program or of the proxy in front of it.",
      tls: "Check the certificate of the host.",
      timeout_connect: "Check that the host is up and that its firewall lets the gateway in.",
      timeout_total: "Let the program answer first and do its work afterwards.",
      blocked: "Enter a public address, or ask the operator to allow this one with WAYGATE_ALLOWED_HOSTS.",
      invalid_url: "Enter a complete http or https address.",
      protocol: "Check the port, and whether it expects http or https.",
      redirect: "Enter the final address: the gateway follows no redirects.",
      refusal: "Check the path, the secret and the headers, and read the log of the program.",
      crash: "Read the log of the program and repair it.",
      starting: "Wait until n8n is up. The gateway repeats the events by itself.",
      unknown: "Its last attempt says why.",
    },
    attention: {
      passkey_challenge:
        "WhatsApp demands the passkey of this account from the linked session, which no gateway can give. Open WhatsApp on the phone and follow what it asks. If the session is logged out, connect the instance and link it again.",
    },
    storage: "{percent} % of the storage for files is in use.",
    storageHelp:
      "Keep files for fewer days, or ask for a plan with more storage. When it is full, new files are not kept.",
    storageOf: "{name} uses {percent} % of its storage for files.",
    storageOfHelp: FINDINGS.storage_nearly_full.action,
    queue:
      "Jobs are overdue: {queue}. The oldest is {seconds, plural, one {# second} other {# seconds}} late.",
    queueHelp: FINDINGS.queue_late.action,
    held: "Work of the restored backup is on hold.",
    heldHelp: {
      none: "Release or discard it on the overview.",
      release: "You have released it. If it stays, check that a node with the role worker runs.",
      discard: "You have discarded it. If it stays, check that a node with the role worker runs.",
    },
    node: "No node with the role {role} is alive.",
    nodeHelp: "Start a node with {role} in WAYGATE_ROLES.",
    advice: {
      disconnected: FINDINGS.instance_disconnected.action,
      failures: describeFinding("sends_failing"),
      silence: describeFinding("nothing_received"),
    },
  },
} as const;
