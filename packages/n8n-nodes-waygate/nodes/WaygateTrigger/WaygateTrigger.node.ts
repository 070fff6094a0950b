import {
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
} from "n8n-workflow";
import { EVENT_OPTIONS } from "./event-options.ts";
import { createWebhook, deleteWebhook, findWebhook } from "./manage-webhook.ts";
import { receiveEvent } from "./receive-event.ts";

/** Starts the workflow on events of the gateway. It creates and deletes its webhook by itself. */
export class WaygateTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Waygate Trigger",
    name: "waygateTrigger",
    icon: { light: "file:waygate.svg", dark: "file:waygate.dark.svg" },
    group: ["trigger"],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: "Starts the workflow when a Waygate gateway receives a message or records another event",
    defaults: { name: "Waygate Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "waygateApi", required: true }],
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "waygate" }],
    properties: [
      {
        displayName: "Events",
        name: "events",
        type: "multiOptions",
        required: true,
        options: EVENT_OPTIONS,
        default: ["message.received"],
        description: "The events that start the workflow",
      },
      {
        displayName: "Ignore",
        name: "exclude",
        type: "multiOptions",
        options: [
          { name: "Messages in Groups", value: "groups" },
          { name: "Messages Sent by the API", value: "sent_by_api" },
          { name: "Own Messages", value: "from_me" },
        ],
        default: [],
        description: "The events of messages that do not start the workflow",
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return findWebhook(this);
      },
      async create(this: IHookFunctions): Promise<boolean> {
        return createWebhook(this);
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        return deleteWebhook(this);
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { rawBody = Buffer.alloc(0), headers } = this.getRequestObject();
    const { secret } = this.getWorkflowStaticData("node");
    const events = this.getNodeParameter("events", []) as string[];
    const received = receiveEvent({ headers, body: rawBody }, String(secret ?? ""), events);
    if (received.status === 200) {
      if (received.event === undefined) return { webhookResponse: { message: received.message } };
      return { workflowData: [this.helpers.returnJsonArray(received.event as IDataObject)] };
    }
    this.getResponseObject().status(received.status).json({ message: received.message });
    return { noWebhookResponse: true };
  }
}
