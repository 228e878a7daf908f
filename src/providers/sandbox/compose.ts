// Composes the sandbox's whole answer from a request and its directives. Pure; run.ts plays it as a
// stream.
import { wordsOf, type Answer } from '../../canonical/answer.ts';
import type { Citation } from '../../canonical/citation.ts';
import type { SearchPart } from '../../canonical/own-tools.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { isLoweredTool } from '../../formats/adapting/custom-tools.ts';
import type { SpokenPart, ThinkingPart, Tool, ToolCallPart } from '../../canonical/request.ts';
import { fitToolNames } from '../../formats/tool-names.ts';
import { isObject, isTooDeep, type JsonObject, parsedOr } from '../../lib/json.ts';
import { utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { FoundPage } from '../../terms/search-source.ts';
import { cutAtLimit, cutAtSequence } from './cut.ts';
import type { ToolDirective } from './directives.ts';
import { failureWithStatus, refuse } from './failures.ts';
import { codeTool, type SandboxRequest } from './request.ts';
import { makeInstance, openBudget } from './schema-instance.ts';
import { makePage } from './search.ts';
import { chooseSearch } from './searches.ts';
import type { Turn } from './turn.ts';
import { countUsage } from './usage.ts';

export type Composed = {
  readonly answer: Answer<SpokenPart | SearchPart>;
  /** The code that Gemini runs before it answers; null: none. */
  readonly code: string | null;
};

type ComposeInput = {
  readonly request: SandboxRequest;
  readonly turn: Turn;
  readonly maxOutputTokens: number;
  /** True for a model that thinks. */
  readonly thinking: boolean;
};

type Composing = ComposeInput & {
  /** The query of a search, or the code to run. */
  readonly asked: string | null;
  /** Makes a value for a schema of the request; `of` says which. */
  readonly instanceOf: (schema: JsonObject, of: string) => unknown;
};

/** Throws UpstreamBroken as a directive says, and when the request asks for something impossible. */
export function composeAnswer(input: ComposeInput): Composed {
  const { request, turn, maxOutputTokens } = input;
  const { status, withoutUsage } = turn.directives;
  if (status !== null) throw new UpstreamBroken(failureWithStatus(status));
  const asked = chooseSearch(request, turn);
  const query = request.searchTool === codeTool ? null : asked;
  const composing = { ...input, asked, instanceOf: instanceMaker() };
  const found = query === null ? [] : [makePage(query, 0)];
  const search: SearchPart[] = query === null ? [] : [{ type: 'search', query, found }];
  const thinking = makeThinking(input);
  const calls = makeCalls(composing);
  const text = makeText(composing, [...thinking, ...calls]);
  const citations = found.map(cite);
  const whole: SpokenPart[] = [
    ...thinking,
    ...(text === ''
      ? []
      : [{ type: 'text', text, ...(found.length > 0 && { citations }) } as const]),
    ...calls,
  ];
  const stopped = cutAtSequence(whole, request.stopSequences);
  const { content, isCut } = cutAtLimit(
    stopped.content,
    Math.min(maxOutputTokens, request.maxOutputTokens ?? Infinity),
  );
  const sequence = isCut ? null : stopped.sequence;
  const end = calls.length > 0 ? 'tool-calls' : 'end';
  const reason = isCut ? 'length' : sequence === null ? end : 'stop-sequence';
  return {
    answer: {
      content: [...content.slice(0, thinking.length), ...search, ...content.slice(thinking.length)],
      stop: { reason, sequence },
      usage: withoutUsage ? null : countUsage(request, content),
    },
    code: query === null ? asked : null,
  };
}

function makeThinking({ request, turn, thinking }: ComposeInput): ThinkingPart[] {
  const text =
    turn.directives.think ??
    (request.asksToThink && thinking
      ? 'The sandbox does not think. It answers the last user message by its rules.'
      : '');
  return text === '' ? [] : [{ type: 'thinking', text, signature: null, redacted: false }];
}

/**
 * A directive says what the model wants. The request's tool choice and its parallel switch have the
 * last word, as with a real model.
 */
function makeCalls(composing: Composing): ToolCallPart[] {
  const { request, turn, asked: searched } = composing;
  const asked = turn.directives.toolCalls
    .filter(({ name }) => name !== request.searchTool)
    .map((call) => ({ ...call, name: sentName(request, call.name) }));
  for (const { name } of asked) findTool(request, name);
  const callsBefore = countCalls(request);
  const wanted = searched === null ? chooseCalls(request, asked) : asked;
  const allowed = request.parallelToolCalls === false ? wanted.slice(0, 1) : wanted;
  return allowed.map(({ name, input }, index) => {
    const tool = findTool(request, name);
    // Numbered through the whole conversation, so ids are reproducible and never repeat.
    const id = `call_sandbox_${callsBefore + index + 1}`;
    const written = makeArguments(tool, input, composing);
    return { type: 'tool-call', id, name, arguments: written, kind: tool.kind };
  });
}

/** Directives use the client's tool names; the request has the names adapted for the host. */
function sentName({ tools, toolNames }: SandboxRequest, name: string): string {
  const fitted = (toolNames && fitToolNames([name], toolNames)?.toSent(name)) ?? name;
  return tools.some((tool) => tool.name === fitted) ? fitted : name;
}

function countCalls({ messages }: SandboxRequest): number {
  const parts = messages.flatMap((message) =>
    message.role === 'assistant' ? message.content : [],
  );
  return parts.filter((part) => part.type === 'tool-call').length;
}

function chooseCalls(
  request: SandboxRequest,
  wanted: readonly ToolDirective[],
): readonly ToolDirective[] {
  const choice = request.toolChoice ?? { type: 'auto' };
  switch (choice.type) {
    case 'auto':
      return wanted;
    case 'none':
      return [];
    case 'required':
      return wanted.length > 0 ? wanted : [{ name: firstTool(request).name, input: null }];
    case 'tool': {
      const named = wanted.filter(({ name }) => name === choice.name);
      return named.length > 0 ? named : [{ name: choice.name, input: null }];
    }
  }
}

function firstTool(request: SandboxRequest): Tool {
  return (
    request.tools[0] ?? refuse('The tool choice requires a call, and the request defines no tools.')
  );
}

function findTool(request: SandboxRequest, name: string): Tool {
  const tool = request.tools.find((candidate) => candidate.name === name);
  if (tool) return tool;
  const defined = request.tools.map((candidate) => `\`${candidate.name}\``).join(', ');
  return refuse(
    `The request defines no tool \`${name}\`. It defines ${defined === '' ? 'none' : defined}.`,
  );
}

function makeArguments(tool: Tool, input: string | null, { instanceOf }: Composing): string {
  if (tool.kind === 'custom') return input ?? 'text';
  if (isLoweredTool(tool)) return JSON.stringify({ input: input ?? 'text' });
  if (input === null)
    return JSON.stringify(
      instanceOf({ type: 'object', ...tool.parameters }, `tool \`${tool.name}\``),
    );
  if (isTooDeep(input) || !isObject(parsedOr(input, null)))
    refuse(
      `The arguments of \`sandbox: tool=${tool.name}\` must be a JSON object on the same line; they are not.`,
    );
  return input;
}

function cite({ url, title }: FoundPage): Citation {
  return { type: 'url', url, title, citedText: null, span: null, reference: 'sandbox' };
}

function instanceMaker(): Composing['instanceOf'] {
  const budget = openBudget();
  return (schema, of) => {
    const made = makeInstance(schema, budget);
    return made.kind === 'instance'
      ? made.value
      : refuse(`The sandbox cannot make up a value for the schema of ${of}: ${made.reason}.`);
  };
}

function makeText(composing: Composing, others: readonly SpokenPart[]): string {
  const { turn, instanceOf } = composing;
  const { outputFormat } = composing.request;
  const { tokens } = turn.directives;
  if (tokens !== null) return makeWords(tokens, composing, others);
  if (others.some((part) => part.type === 'tool-call')) return '';
  switch (outputFormat.type) {
    case 'text':
      return `${describeTurn(turn)}\n\nThis is the sandbox: no model ran.`;
    case 'json':
      return JSON.stringify({ answer: describeTurn(turn), sandbox: true });
    case 'json-schema':
      return JSON.stringify(
        instanceOf(outputFormat.schema, `the output format \`${outputFormat.name}\``),
      );
  }
}

function describeTurn({ text, images, documents, toolResults }: Turn): string {
  if (toolResults.length > 0) {
    return toolResults
      .map(
        ({ name, text: result, isError }) =>
          `The tool ${name} ${isError ? 'failed' : 'returned'}: ${quote(result)}`,
      )
      .join('\n');
  }
  const media = [count(images, 'image'), count(documents, 'document')]
    .filter((phrase) => phrase !== '')
    .join(' and ');
  if (text === '') return `You sent ${media === '' ? 'no text' : media}.`;
  return `You said: ${quote(text)}${media === '' ? '' : ` (with ${media})`}`;
}

function count(amount: number, noun: string): string {
  return amount === 0 ? '' : amount === 1 ? `1 ${noun}` : `${amount} ${noun}s`;
}

const quotedCharactersMax = 1_000;

function quote(text: string): string {
  const characters = Array.from(text.slice(0, quotedCharactersMax * 2));
  if (characters.length <= quotedCharactersMax && text.length <= quotedCharactersMax * 2)
    return text;
  return `${characters.slice(0, quotedCharactersMax).join('')}…`;
}

const filler =
  'The sandbox goes on writing plain words until it has reached the length that was asked for. ';

/**
 * Makes ASCII words that bring the whole answer to exactly this many tokens. It stops one token
 * above the limit, where the answer is cut anyway.
 */
function makeWords(
  tokens: number,
  { maxOutputTokens }: ComposeInput,
  others: readonly SpokenPart[],
): string {
  const otherBytes = others.reduce((sum, part) => sum + utf8Length(wordsOf(part)), 0);
  if (tokens * 4 < otherBytes)
    refuse(
      `\`sandbox: tokens=${tokens}\` is less than what the answer's thinking and tool calls take up already.`,
    );
  const bytes = Math.max(Math.min(tokens, maxOutputTokens + 1) * 4 - otherBytes, 0);
  const text = filler.repeat(Math.ceil(bytes / filler.length)).slice(0, bytes);
  return text.endsWith(' ') ? `${text.slice(0, -1)}.` : text;
}
