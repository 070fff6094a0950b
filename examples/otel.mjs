// The OpenTelemetry SDK of a gateway, which exports its traces over OTLP. docs/operation/tracing.md says how to use it:
//   WAYGATE_TRACING=continue NODE_OPTIONS="--import ./otel.mjs" waygate serve
// OTEL_EXPORTER_OTLP_ENDPOINT is where they go (http://localhost:4318), OTEL_TRACES_SAMPLER which of them.
import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

const name = { "service.name": process.env.OTEL_SERVICE_NAME ?? "waygate" };
const provider = new BasicTracerProvider({
  resource: defaultResource().merge(resourceFromAttributes(name)),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
trace.setGlobalTracerProvider(provider);
