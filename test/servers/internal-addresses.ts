/** Addresses that customers must not reach. */
export const INTERNAL = [
  [127, 0, 0, 1],
  [127, 8, 9, 10],
  [10, 0, 0, 1],
  [172, 16, 5, 4],
  [192, 168, 1, 254],
  [100, 64, 0, 1],
  [169, 254, 169, 254],
  [168, 63, 129, 16],
  [100, 100, 100, 200],
  [192, 0, 0, 192],
  [0, 0, 0, 0],
] as const;

type Four = readonly [number, number, number, number];

/** Spellings of an IPv4 address as a URL host. */
export function spellings([a, b, c, d]: Four): string[] {
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number): string => value.toString(16);
  const octal = (value: number): string => `0${value.toString(8)}`;
  const [high, low] = [hex(a * 256 + b), hex(c * 256 + d)];
  const inverted = [hex((255 - a) * 256 + 255 - b), hex((255 - c) * 256 + 255 - d)].join(":");
  const dotted = `${a}.${b}.${c}.${d}`;
  const wide = (text: string): string =>
    text.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
  return [
    dotted,
    `${dotted}.`,
    String(whole),
    `0x${hex(whole)}`,
    `0X${hex(whole).toUpperCase()}`,
    octal(whole),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    [a, b, c, d].map((part) => `0x${hex(part)}`).join("."),
    [a, b, c, d].map((part) => `0x${hex(part).padStart(8, "0")}`).join("."),
    [a, b, c, d].map(octal).join("."),
    [a, b, c, d].map((part) => `000${octal(part)}`).join("."),
    `0x${hex(a)}.${octal(b)}.${c}.${d}`,
    `${octal(a)}.${(b * 256 + c) * 256 + d}`,
    wide(dotted),
    wide(String(whole)),
    dotted.replaceAll(".", "。"),
    dotted.replaceAll(".", "．"),
    dotted.replace(/\d/, (digit) => `%3${digit}`),
    dotted.replaceAll(".", "%2e"),
    `[::ffff:${dotted}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::ffff:0:${high}:${low}]`,
    `[::${high}:${low}]`,
    `[::${dotted}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[64:ff9b:1:${high}:${hex(c)}:${hex(d * 256)}::]`,
    `[2002:${high}:${low}::]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:${high}:${low}::]`,
    `[2001:0:808:808:0:0:${inverted}]`,
  ];
}

export const INTERNAL_IPV6 = [
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000:0000:0000:0000:0000:0000:0000:0001]",
  "[::0001]",
  "[::]",
  "[fe80::1]",
  "[fe80::1%25lo]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fd00:ec2::23]",
  "[fd00:c1::a9fe:a9fe]",
  "[fd00:42::42]",
  "[fd20:ce::254]",
  "[ff02::1]",
  "[fec0::1]",
];

/** Ways to hide a host in a URL. */
export function disguises(host: string, port: number): string[] {
  return [
    `http://${host}:${port}/`,
    `https://${host}:${port}/`,
    `http://example.com@${host}:${port}/`,
    `http://example.com:80@${host}:${port}/`,
    `http://example.com%2f@${host}:${port}/`,
    `http://example.com%23@${host}:${port}/x`,
    `http:\\\\${host}:${port}\\x`,
    `http:/${host}:${port}/`,
    `http:${host}:${port}/`,
    `HTTP://${host}:${port}/?@example.com`,
    `http://${host}:0${port}/#@example.com/`,
  ];
}
