import { describeDriver } from "../../../test/conformance/driver-suite.ts";
import { describeOperations } from "../../../test/conformance/operation-suite.ts";
import { startWhatsAppStage } from "../../../test/whatsapp-stage.ts";

describeDriver("whatsapp", startWhatsAppStage);
describeOperations("whatsapp", startWhatsAppStage);
