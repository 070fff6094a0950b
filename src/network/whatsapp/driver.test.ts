import { startWhatsAppStage } from "../../../test/whatsapp-stage.ts";
import { describeDriver } from "../conformance.ts";

describeDriver("whatsapp", startWhatsAppStage);
