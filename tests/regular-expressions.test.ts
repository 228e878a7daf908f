// Every regular expression of `src/` runs in linear time: a quadratic one on untrusted text would
// block the event loop (ReDoS). They are found by parsing the sources, so new ones are tested
// automatically.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAst } from 'rolldown/parseAst';
import { makeMatch } from '../src/providers/sandbox/pattern-instance.ts';
import { openBudget } from '../src/providers/sandbox/schema-instance.ts';
import { cpuMsOf } from './support/cpu-time.ts';

type Expression = { readonly source: string; readonly flags: string; readonly place: string };
type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number };

const root = join(import.meta.dirname, '..', 'src');

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/**
 * Finds literals, `new RegExp('…')`, and schema patterns, but not expressions built at run time.
 */
function expressionsOf(node: Node, at: (start: number) => string): Expression[] {
  const found: Expression[] = [];
  const add = (source: string, flags: string) =>
    found.push({ source, flags, place: at(node.start) });
  const literal = node['regex'] as
    | { readonly pattern: string; readonly flags: string }
    | null
    | undefined;
  if (node.type === 'Literal' && literal) add(literal.pattern, literal.flags);
  const [first, second] = (node['arguments'] ?? []) as Node[];
  const isRegExp = (node['callee'] as { name?: string } | undefined)?.name === 'RegExp';
  if (isRegExp && typeof first?.['value'] === 'string')
    add(first['value'], typeof second?.['value'] === 'string' ? second['value'] : '');
  const key = node['key'] as { name?: string } | undefined;
  const value = node['value'] as { value?: unknown } | undefined;
  if (node.type === 'Property' && key?.name === 'pattern' && typeof value?.value === 'string')
    add(value.value, 'u');
  for (const child of Object.values(node).flat())
    if (isNode(child)) found.push(...expressionsOf(child, at));
  return found;
}

function readExpressions(): Expression[] {
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const all = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const program = parseAst(text, { lang: 'ts' }) as unknown as Node;
    return expressionsOf(program, (start) => `${file}:${text.slice(0, start).split('\n').length}`);
  });
  return [...new Map(all.map((one) => [`/${one.source}/${one.flags}`, one])).values()];
}

/** Strings to repeat: each character in the expression, and some common ones. */
function pumpsOf(source: string): string[] {
  const escaped: Readonly<Record<string, string>> = {
    s: ' ',
    S: 'a',
    w: 'a',
    W: '-',
    d: '0',
    D: 'a',
    n: '\n',
    r: '\r',
    t: '\t',
  };
  const signs = [...source.matchAll(/\\([a-zA-Z])|\\?([^\\])/g)].map(([, letter, sign]) =>
    letter === undefined ? sign! : (escaped[letter] ?? ''),
  );
  const single = [...new Set([...signs, 'a', '0', ' ', '.', '-'])].filter((sign) => sign !== '');
  const few = single.filter((sign) => /[^a-zA-Z0-9]/.test(sign)).slice(0, 6);
  return [...single.slice(0, 24), ...few.flatMap((sign) => [`a${sign}`, `${sign}a`, `0${sign}`])];
}

/** Prefixes of a matching text: what an expression must read before its slow part. */
function beginningsOf(source: string): string[] {
  const plain = source.replaceAll(/\(\?<?[=!][^)]*\)/g, '').replaceAll(/\(\?<\w+>/g, '(');
  const match = matchOf(plain) ?? '';
  const ends = [
    0,
    1,
    2,
    3,
    match.length - 1,
    match.length,
    ...[...match.matchAll(/[^a-zA-Z0-9]/g)].map(({ index }) => index + 1),
  ];
  return [...new Set(ends.filter((end) => end >= 0).map((end) => match.slice(0, end)))].slice(
    0,
    12,
  );
}

function matchOf(source: string): string | null {
  try {
    return makeMatch(source, { min: 0, max: 200 }, { root: null, budget: openBudget() });
  } catch {
    return null;
  }
}

/** As in use: all matches with `g`, otherwise the first. */
function run({ source, flags }: Expression, text: string): void {
  const expression = new RegExp(source, flags);
  if (flags.includes('g')) text.replaceAll(expression, '');
  else expression.test(text);
}

/** True when one of three runs is quicker: enough to rule out a slow expression. */
function isQuicker(expression: Expression, text: string, thanMs: number): boolean {
  for (let tries = 0; tries < 3; tries++) {
    const startMs = performance.now();
    run(expression, text);
    if (performance.now() - startMs < thanMs) return true;
  }
  return false;
}

/** The CPU clock, unaffected by other programs, has steps of ten milliseconds on some systems. */
const measuredMs = 60;

/** CPU time per run, averaged over enough runs to be measurable. */
function cpuMsPerRun(expression: Expression, text: string): number {
  for (let runs = 1; ; runs *= 2) {
    const tookMs = cpuMsOf(() => {
      for (let done = 0; done < runs; done++) run(expression, text);
    });
    if (tookMs >= measuredMs) return tookMs / runs;
  }
}

/** Small enough that even an exponential expression is found quickly. */
const small = 4_096;
const sizes = [24, 256, small];
const explodedMs = 50;
/** For the longest text: a quadratic expression takes about ten milliseconds. */
const quickMs = 2;
const factor = 4;
/** About 4 for a linear expression, 16 for a quadratic one. */
const growthMax = 9;

/** Describes how slow it is on that text; null: fast enough. */
function slownessOf(expression: Expression, textOf: (size: number) => string): string | null {
  for (const size of sizes) {
    const text = textOf(size);
    if (size === small && isQuicker(expression, text, quickMs)) return null;
    if (isQuicker(expression, text, explodedMs)) continue;
    const tookMs = cpuMsPerRun(expression, text);
    if (tookMs >= explodedMs) return `${Math.round(tookMs)} ms for ${size} signs`;
  }
  // Other programs slow some of the measurements.
  const leastMs = (size: number) =>
    Math.min(...[1, 2, 3].map(() => cpuMsPerRun(expression, textOf(size))));
  const growth = leastMs(small * factor) / leastMs(small);
  return growth > growthMax
    ? `${Math.round(growth)} times the time for ${factor} times the length`
    : null;
}

function slowTextOf(expression: Expression): string | null {
  for (const beginning of beginningsOf(expression.source)) {
    for (const pump of pumpsOf(expression.source)) {
      for (const end of ['', '\0', 'a']) {
        const slowness = slownessOf(
          expression,
          (size) => beginning + pump.repeat(Math.ceil(size / pump.length)) + end,
        );
        if (slowness !== null)
          return `${JSON.stringify(beginning)} + ${JSON.stringify(pump)} × n + ${JSON.stringify(end)}: ${slowness}`;
      }
    }
  }
  return null;
}

test('the timing distinguishes quadratic and exponential expressions from linear ones', () => {
  const tried = (source: string) => slowTextOf({ source, flags: '', place: '' });
  for (const source of ['\\.+$', '^(a+)+$', 'x[abx]*y'])
    assert.notEqual(tried(source), null, source);
  for (const source of ['^\\.+', '^data:[a-z]+;base64,', '[^a-z]', '^\\d+(?:\\.\\d+)?$'])
    assert.equal(tried(source), null, source);
});

test('every regular expression of src/ takes linear time', (t) => {
  const expressions = readExpressions();
  assert.ok(expressions.length > 120, `only ${expressions.length} were found`);
  const slow = expressions.flatMap((expression) => {
    const text = slowTextOf(expression);
    return text === null
      ? []
      : [`${expression.place} /${expression.source}/${expression.flags} on ${text}`];
  });
  t.diagnostic(`${expressions.length} expressions`);
  assert.deepEqual(slow, []);
});
