import { startWhatsAppStage } from "../../../test/whatsapp-stage.ts";
import { describeDriver } from "../conformance.ts";
import { describeCalls } from "../conformance-calls.ts";

describeDriver("whatsapp", startWhatsAppStage);
describeCalls("whatsapp", startWhatsAppStage);
