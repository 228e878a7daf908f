// Good answers with missing or impossible usage. A count is untrusted input: an implausible one is
// replaced by our own, and nothing is charged beyond what the request can cause.
import type { ChargedTokens, Fault } from './faults.ts';
import { chunkedAnswer, goodTokens, httpAnswer, type FaultCall } from './fault-server.ts';
import { streamOf, wholeOf, type ModelHost } from './model-hosts.ts';
import type { SseFrame } from './upstream.ts';

/**
 * The change to each count; a group left out stays. JSON text, because some values have no other
 * form.
 */
type FalseCounts = { readonly [group in 'input' | 'output' | 'cached' | 'total']?: string };

/** As in the catalogue entry of the table's models. */
export const modelLimits = { input: 100_000, output: 8_000 };

function usageFault(
  name: string,
  counts: FalseCounts | null,
  tokens: ChargedTokens | ((host: ModelHost) => ChargedTokens),
): Fault {
  return {
    name: `usage-${name}`,
    play: async (call) => call.write(answerWith(call, counts)),
    expect: ({ host }) => ({
      kind: 'complete',
      tokens: typeof tokens === 'function' ? tokens(host) : tokens,
    }),
  };
}

const { input, output } = goodTokens;

export const usageFaults: readonly Fault[] = [
  usageFault('missing', null, 'own'),
  usageFault('negative', { input: '-11', output: '-7' }, 'own'),
  usageFault('absurd', { input: '1e15', output: '1e15' }, 'own'),
  usageFault(
    'over-the-limits',
    { input: '50000000', output: '50000000', total: '100000000' },
    'most',
  ),
  usageFault('text', { input: '"11"', output: '"7"' }, 'own'),
  usageFault('null', { input: 'null', output: 'null' }, 'own'),
  usageFault('infinite', { input: '1e999', output: '-1e999' }, 'own'),
  usageFault('fraction', { input: '11.5', output: '7.25' }, 'own'),
  usageFault('list', { input: '[11]', output: '{"7":7}' }, 'own'),
  usageFault('zero', { input: '0', output: '0' }, 'own'),
  // Its input count stands.
  usageFault('zero-output', { output: '0' }, 'own-output'),
  // In Messages and Converse, cache reads are counted in addition to the input; elsewhere they are
  // part of it. Cohere bills them like all others.
  usageFault(
    'more-cached-than-input',
    { input: '11', cached: '500', total: '18' },
    ({ wire, name }) =>
      wire === 'messages' || wire === 'converse'
        ? { input, cacheRead: 500, output }
        : name === 'cohere'
          ? { input, output }
          : { input: 0, cacheRead: input, output },
  ),
  usageFault('cached-negative', { input: '11', cached: '-500', total: '18' }, { input, output }),
];

function answerWith(call: FaultCall, counts: FalseCounts | null): string {
  const { host, stream, content } = call;
  const counted = {
    ...content,
    tokens: counts === null ? null : { ...goodTokens, cacheRead: counts.cached ? 1 : 0 },
  };
  const falsify = (value: object) =>
    counts === null ? JSON.stringify(value) : falseText(value, counts);
  if (!stream) return httpAnswer(falsify(wholeOf(host, counted)));
  const { start, deltas, end } = streamOf(host, counted);
  return chunkedAnswer(
    call,
    [...start, ...deltas, ...end].map((frame) => falseFrame(frame, falsify)),
  );
}

function falseFrame(frame: SseFrame, falsify: (value: object) => string): SseFrame {
  return typeof frame === 'string' || typeof frame.data !== 'object'
    ? frame
    : { ...frame, data: falsify(frame.data as object) };
}

const groups: readonly (readonly [names: RegExp, group: keyof FalseCounts])[] = [
  [
    /^(cached_tokens|cache_read_input_tokens|cachedContentTokenCount|cacheReadInputTokens)$/,
    'cached',
  ],
  [/^(input_tokens|prompt_tokens|promptTokenCount|inputTokens)$/, 'input'],
  [/^(output_tokens|completion_tokens|candidatesTokenCount|outputTokens)$/, 'output'],
  [/^total_?[tT]okens?(Count)?$/, 'total'],
];

/** JSON with the counts replaced at any depth. */
function falseText(value: object, counts: FalseCounts): string {
  const marked = JSON.stringify(value, (name, child: unknown) => {
    const group =
      typeof child === 'number' ? groups.find(([names]) => names.test(name))?.[1] : undefined;
    return group && counts[group] !== undefined ? `<<${group}>>` : child;
  });
  return marked.replaceAll(/"<<(\w+)>>"/g, (_, group: keyof FalseCounts) => counts[group]!);
}
