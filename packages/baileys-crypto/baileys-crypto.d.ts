export function md5(bytes: Uint8Array): Uint8Array;

export function hkdf(
  key: Uint8Array,
  length: number,
  options: { salt?: Uint8Array | undefined; info?: string | undefined },
): Uint8Array;

export interface AppStateKeys {
  indexKey: Uint8Array;
  valueEncryptionKey: Uint8Array;
  valueMacKey: Uint8Array;
  snapshotMacKey: Uint8Array;
  patchMacKey: Uint8Array;
}

export function expandAppStateKeys(key: Uint8Array): AppStateKeys;

export class LTHashAntiTampering {
  subtractThenAdd(hash: Uint8Array, removed: Uint8Array[], added: Uint8Array[]): Uint8Array;
}
