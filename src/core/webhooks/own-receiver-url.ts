/** Where the gateway's own receiver of an instance takes webhooks; the panel shows what arrived there. */
export function ownReceiverUrl(baseUrl: string, instanceId: number): string {
  return `${baseUrl}/api/v1/instances/${instanceId}/webhook-receiver`;
}
