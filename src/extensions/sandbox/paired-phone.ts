import {
  getInstance,
  type InstanceRow,
  requireSandbox,
  type SandboxPolicy,
} from "../../core/instances/instances.ts";
import type { SandboxControl } from "../../network/sandbox-control.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { InstanceStatus } from "../../tables.ts";

export interface SandboxAccess extends SandboxPolicy {
  /** The control of an account's sandbox network. */
  controlOf(account_id: number): SandboxControl;
}

/** The sandbox instance, if its account may use the sandbox. Throws NOT_FOUND, CONFLICT and FORBIDDEN. */
export async function getSandboxInstance(access: SandboxPolicy, id: number): Promise<InstanceRow> {
  const instance = await getInstance(access.db, id);
  const { network } = instance;
  if (network !== "sandbox") {
    throw new GatewayError(
      "CONFLICT",
      "The instance is not on the sandbox network. Use one with network sandbox.",
      {
        details: { network },
      },
    );
  }
  await requireSandbox(access, instance.account_id);
  return instance;
}

export interface PairedPhone {
  account_id: number;
  phone: string;
  /** The control of the network of the instance's account. */
  control: SandboxControl;
}

/** The number of the instance's paired phone. Throws INSTANCE_NOT_CONNECTED without one. */
export async function getPairedPhone(access: SandboxAccess, id: number): Promise<PairedPhone> {
  const { account_id, phone, status } = await getSandboxInstance(access, id);
  if (phone === null) throw notPaired(status);
  return { account_id, phone, control: access.controlOf(account_id) };
}

export function notPaired(status?: InstanceStatus): GatewayError {
  return new GatewayError(
    "INSTANCE_NOT_CONNECTED",
    "The instance is not paired with a phone. Connect it and scan its QR code first.",
    {
      details: status && { status },
    },
  );
}

/** The result of an action that needs a paired phone. Throws INSTANCE_NOT_CONNECTED if nothing happened. */
export function requireHappened<T extends string | object | true>(result: T | false | undefined): T {
  if (!result) throw notPaired();
  return result;
}
