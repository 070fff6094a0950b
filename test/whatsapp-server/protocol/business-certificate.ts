import { proto } from "baileys";

/** The network's certificate of a business name. */
export function certificateOf(verifiedName: string): Uint8Array {
  const { VerifiedNameCertificate } = proto;
  const details = VerifiedNameCertificate.Details.encode({ verifiedName, issuer: "test" }).finish();
  return VerifiedNameCertificate.encode({ details }).finish();
}
