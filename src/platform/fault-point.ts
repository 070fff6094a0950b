let armed: { name: string; left: number } | undefined;

/** Arms `<name>:<nth>` so that the nth pass of that point kills the process; without a spec, disarms. */
export function armFaultPoint(spec?: string): void {
  armed = spec ? parseSpec(spec) : undefined;
}

/** A named place where a test can kill the process as with `kill -9`; costs nothing when not armed. */
export function faultPoint(name: string): void {
  if (armed === undefined || armed.name !== name) return;
  armed.left -= 1;
  if (armed.left === 0) process.kill(process.pid, "SIGKILL");
}

function parseSpec(spec: string): { name: string; left: number } {
  const [, name, nth = "1"] = /^([\w.-]+(?::[a-z][\w.-]*)*)(?::([1-9]\d*))?$/.exec(spec) ?? [];
  if (name === undefined)
    throw new Error(`A fault point is written <name>:<nth>, not ${JSON.stringify(spec)}`);
  return { name, left: Number(nth) };
}
