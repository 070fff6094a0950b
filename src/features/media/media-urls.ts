import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { MediaUrls } from "./media.ts";

export interface MediaUrlOptions {
  secretKey: string;
  /** No longer signs, but its signatures are still valid. */
  secondKey?: string | undefined;
  /** The public URL of the gateway. */
  baseUrl: string;
}

export function createMediaUrls({ secretKey, secondKey, baseUrl }: MediaUrlOptions): MediaUrls {
  const key = signingKey(secretKey);
  const keys = secondKey === undefined ? [key] : [key, signingKey(secondKey)];

  return {
    create(mediaId, ttlSeconds) {
      const expires = String(Math.floor(Date.now() / 1000) + ttlSeconds);
      const signature = sign(key, mediaId, expires).toString("base64url");
      return `${baseUrl}/media/${mediaId}/${expires}/${signature}`;
    },
    isGood(mediaId, expires, signature) {
      const received = Buffer.from(signature, "base64url");
      const isSigned = keys.map((one) => isSame(received, sign(one, mediaId, expires))).includes(true);
      return isSigned && Number(expires) * 1000 > Date.now();
    },
  };
}

function signingKey(secretKey: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "", "waygate media links 1", 32));
}

function sign(key: Buffer, mediaId: string, expires: string): Buffer {
  return createHmac("sha256", key).update(`${mediaId}/${expires}`).digest();
}

function isSame(received: Buffer, right: Buffer): boolean {
  return received.length === right.length && timingSafeEqual(received, right);
}
