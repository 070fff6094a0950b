import { Gauge, type Registry } from "prom-client";
import { remainingSeconds, type VersionState, versionAgeSeconds } from "./client-version.ts";

/** Adds the client version to the metrics of this process. */
export function registerVersionMetrics(registry: Registry, state: () => VersionState): void {
  new Gauge({
    name: "waygate_whatsapp_client_version_info",
    help: "1 for the version of WhatsApp's web client that sessions log in as, and where it comes from",
    labelNames: ["version", "source"],
    registers: [registry],
    collect() {
      const { version, source } = state();
      this.reset();
      this.set({ version, source }, 1);
    },
  });
  new Gauge({
    name: "waygate_whatsapp_client_version_age_seconds",
    help: "Time since WhatsApp last confirmed a version of its web client; absent before that",
    registers: [registry],
    collect() {
      const age = versionAgeSeconds(state());
      this.remove();
      if (age !== null) this.set(age);
    },
  });
  new Gauge({
    name: "waygate_whatsapp_client_version_remaining_seconds",
    help: "Time until WhatsApp refuses the version of its web client; absent if it has named no time",
    registers: [registry],
    collect() {
      const seconds = remainingSeconds(state());
      this.remove();
      if (seconds !== undefined) this.set(seconds);
    },
  });
}
