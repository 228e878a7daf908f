// Converts a V8 CPU profile to microseconds of self time per request, by part of the program and by
// function.
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatTable } from './table.ts';

/** https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
export type CpuProfile = {
  readonly startTime: number;
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes, and the microseconds between samples. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};
type ProfileNode = {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
};
type CallFrame = {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
};

/** The measured period. Samples outside it (start, warm-up) do not count. */
export type Span = {
  readonly fromMicros: number;
  readonly toMicros: number;
  readonly requests: number;
};

const partsMax = 25;
const functionsMax = 30;
const idle = '(idle)';

/** Returns one thread's profile as text. */
export function describeProfile(profile: CpuProfile, span: Span): string {
  const parts = partsOf(profile);
  const functions = new Map(profile.nodes.map(({ id, callFrame }) => [id, functionOf(callFrame)]));
  const table = (title: string, names: ReadonlyMap<number, string>, rowsMax: number) => {
    const times = [...selfTimes(profile, span, names)]
      .toSorted((one, other) => other[1] - one[1])
      .slice(0, rowsMax);
    return formatTable(
      [title, 'µs a request'],
      times.map(([name, micros]) => [name, (micros / span.requests).toFixed(1)]),
    );
  };
  return [
    `A thread over ${span.requests} requests, wall-clock time:`,
    table('self time in', parts, partsMax),
    table('self time of', functions, functionsMax),
  ].join('\n\n');
}

function selfTimes(
  { startTime, samples, timeDeltas }: CpuProfile,
  span: Span,
  names: ReadonlyMap<number, string>,
): Map<string, number> {
  const times = new Map<string, number>();
  let atMicros = startTime;
  for (const [index, id] of samples.entries()) {
    atMicros += timeDeltas[index]!;
    const name = names.get(id)!;
    if (atMicros < span.fromMicros || atMicros > span.toMicros || name === idle) continue;
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index + 1] ?? 0));
  }
  return times;
}

/** Returns each node's part of the program. Native functions count for their caller's part. */
function partsOf({ nodes }: CpuProfile): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const visit = ({ id, callFrame, children = [] }: ProfileNode, callerPart: string): void => {
    const isMeta = callFrame.functionName.startsWith('(') && callFrame.url === '';
    const part = isMeta ? callFrame.functionName : (partOf(callFrame.url) ?? callerPart);
    parts.set(id, part);
    for (const child of children) visit(byId.get(child)!, part);
  };
  visit(nodes[0]!, '');
  return parts;
}

/** Examples: `src/gateway`, `fastify`, `node:streams`; null for native code. */
function partOf(url: string): string | null {
  const file = fileOf(url);
  if (file === '') return null;
  const builtIn = /^node:(?:internal\/)?([^/]+)/.exec(file)?.[1];
  if (builtIn !== undefined) return `node:${builtIn}`;
  return (
    /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? /^src\/[^/]+/.exec(file)?.[0] ?? file
  );
}

function functionOf({ functionName, url, lineNumber }: CallFrame): string {
  const file = fileOf(url);
  return `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}:${lineNumber + 1}`}`;
}

function fileOf(url: string): string {
  return url.startsWith('file:')
    ? relative(join(import.meta.dirname, '..'), fileURLToPath(url))
    : url;
}
