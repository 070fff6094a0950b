const MASK = "****";

/** Enough to recognise a secret, too little to use it. */
export function maskSecret(secret: string): string {
  return secret.length < 12 ? MASK : `${MASK}${secret.slice(-4)}`;
}

/** Whether this is the masked form of the secret. */
export function isMaskOf(value: unknown, secret: string | undefined): boolean {
  return secret !== undefined && value === maskSecret(secret);
}
