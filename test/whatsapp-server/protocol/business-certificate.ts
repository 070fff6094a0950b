import { proto } from "baileys";

/** By which the network vouches for the name of a business. */
export function certificateOf(verifiedName: string): Uint8Array {
  const { VerifiedNameCertificate } = proto;
  const details = VerifiedNameCertificate.Details.encode({ verifiedName, issuer: "test" }).finish();
  return VerifiedNameCertificate.encode({ details }).finish();
}
