import {
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeProperties,
  type INodeType,
  type INodeTypeDescription,
  NodeConnectionTypes,
} from "n8n-workflow";
import { PROPERTIES } from "./properties.ts";
import { runOperation } from "./run-operation.ts";
import { toNodeError } from "./to-node-error.ts";

/** Calls the gateway for each item. */
export class Waygate implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Waygate",
    name: "waygate",
    icon: { light: "file:waygate.svg", dark: "file:waygate.dark.svg" },
    group: ["output"],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: "Send and read messages of WhatsApp Web sessions through a Waygate gateway",
    defaults: { name: "Waygate" },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: true,
    credentials: [{ name: "waygateApi", required: true }],
    properties: PROPERTIES as INodeProperties[],
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const output: INodeExecutionData[] = [];
    for (const itemIndex of this.getInputData().keys()) {
      try {
        output.push(...(await runOperation(this, itemIndex)));
      } catch (error) {
        const nodeError = toNodeError(this.getNode(), error, itemIndex);
        if (!this.continueOnFail()) throw nodeError;
        output.push({
          json: { error: nodeError.message },
          error: nodeError,
          pairedItem: { item: itemIndex },
        });
      }
    }
    return [output];
  }
}
