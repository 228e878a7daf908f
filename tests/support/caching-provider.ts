// A provider in the Messages format whose prompt cache follows Anthropic's documentation: a mark
// keeps everything before it for five minutes from its last use, a read looks back over twenty
// blocks from each mark, and short prompts are not kept. Its model calls the first tool in every
// turn. Tokens are four bytes each.
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../src/lib/json.ts';
import type { TestClock } from './test-clock.ts';
import { answerJson, type Script } from './upstream.ts';

/** USD per million tokens, as Sonnet's. */
export const cachingPrices = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };

export type CacheUsage = {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly output_tokens: number;
};

export type CachingProvider = {
  readonly script: Script;
  readonly answer: (body: JsonObject) => JsonObject & { readonly usage: CacheUsage };
  /** What it has billed so far, in order. */
  readonly billed: readonly CacheUsage[];
};

const lookBackBlocks = 20;
const keptMs = 5 * 60_000;
const marksMax = 4;

/** `tokensMin`: the shortest prompt that is kept. */
export function cachingProvider(clock: TestClock, tokensMin = 1_024): CachingProvider {
  const expiries = new Map<string, number>();
  const billed: CacheUsage[] = [];
  const answer = (body: JsonObject) => {
    const prefixes = prefixesOf(body);
    const marks = prefixes.filter(({ isMarked }) => isMarked);
    if (marks.length > marksMax) throw new Error(`${marks.length} cache marks`);
    const isKept = ({ digest }: Prefix) => (expiries.get(digest) ?? 0) > clock.nowMs();
    const readable = marks.flatMap((mark) => {
      const at = prefixes.indexOf(mark);
      return prefixes.slice(Math.max(at - lookBackBlocks, 0), at + 1).filter(isKept);
    });
    const written = marks.filter(({ tokens }) => tokens >= tokensMin);
    for (const { digest } of [...written, ...readable])
      expiries.set(digest, clock.nowMs() + keptMs);
    const most = (list: readonly Prefix[]) => Math.max(0, ...list.map(({ tokens }) => tokens));
    const read = most(readable);
    const creation = Math.max(most(written) - read, 0);
    const usage = {
      input_tokens: prefixes.at(-1)!.tokens - read - creation,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: creation,
      output_tokens: 60,
    };
    billed.push(usage);
    const call = {
      type: 'tool_use',
      id: `toolu_${billed.length}`,
      name: 'read_file',
      input: { path: `src/file-${billed.length}.ts` },
    };
    return {
      id: `msg_${billed.length}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [{ type: 'text', text: 'I read the next file.' }, call],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage,
    };
  };
  return {
    answer,
    billed,
    script: (response, request) =>
      answerJson(answer(request.body as JsonObject))(response, request),
  };
}

/** Returns the cost at `cachingPrices`, in USD. */
export function costOf(usages: readonly CacheUsage[]): number {
  const { input, output, cache_read: read, cache_write: write } = cachingPrices;
  const picos = usages.map(
    (usage) =>
      usage.input_tokens * input +
      usage.cache_read_input_tokens * read +
      usage.cache_creation_input_tokens * write +
      usage.output_tokens * output,
  );
  return picos.reduce((sum, one) => sum + one, 0) / 1_000_000;
}

type Prefix = { readonly digest: string; readonly tokens: number; readonly isMarked: boolean };

/** Returns the prompt up to each of its blocks: tools, then system, then the conversation. */
function prefixesOf({ tools, system, messages }: JsonObject): Prefix[] {
  const blocks: [string, JsonObject][] = [
    ...blocksOf(tools).map((block): [string, JsonObject] => ['tools', block]),
    ...blocksOf(system).map((block): [string, JsonObject] => ['system', block]),
    ...(messages as readonly JsonObject[]).flatMap(({ role, content }) =>
      blocksOf(content).map((block): [string, JsonObject] => [String(role), block]),
    ),
  ];
  const digest = createHash('sha256');
  let bytes = 0;
  return blocks.map(([where, { cache_control: mark, ...block }]) => {
    const text = JSON.stringify([where, block]);
    digest.update(text);
    bytes += text.length;
    return {
      digest: digest.copy().digest('hex'),
      tokens: Math.ceil(bytes / 4),
      isMarked: mark !== undefined && mark !== null,
    };
  });
}

function blocksOf(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content ?? []) as readonly JsonObject[];
}
