// Reads Gemini plainly: the first candidate's parts, whole or in chunks. The last usage and finish
// reason count.
import { failedReading, joinTexts, type Counts, type Json, type Reading } from './reading.ts';

/** `events`: a stream's chunks, or the single body of a whole answer. */
export function readGemini(events: readonly Json[]): Reading {
  if (events.some((event) => event['error'])) return failedReading;
  const candidates = events.flatMap((event) => ((event['candidates'] ?? []) as Json[]).slice(0, 1));
  const parts = candidates.flatMap((candidate) => (candidate['content']?.parts ?? []) as Json[]);
  const calls = parts
    .filter((part) => part['functionCall'])
    .map(({ functionCall }) => readCall(functionCall as Json));
  const isBlocked = events.some((event) => event['promptFeedback']?.blockReason);
  const reason = candidates.map((candidate) => candidate['finishReason']).findLast(Boolean) as
    | string
    | undefined;
  return {
    text: joinTexts(parts.filter((part) => !part['thought']).map(readText)),
    reasoning: joinTexts(parts.filter((part) => part['thought']).map((part) => part['text'])),
    signatures: parts.flatMap(readSignature),
    calls,
    pages: candidates.flatMap(readPages),
    stop: isBlocked ? 'filter' : readStop(reason, calls.length > 0),
    usage: readUsage(events.map((event) => event['usageMetadata']).findLast(Boolean)),
  };
}

/** Code that Gemini has run, and what came of it, is a block of Markdown in other formats. */
function readText({ text, executableCode: code, codeExecutionResult: result }: Json): string {
  if (!code && !result) return text as string;
  const block = String(code ? code.code : (result.output ?? '')).replace(/\n?$/, '\n');
  return `\n\`\`\`${code ? code.language.toLowerCase() : ''}\n${block}\`\`\`\n`;
}

/** A page is cited once for each piece of text that it supports. */
function readPages({ groundingMetadata, citationMetadata }: Json): string[] {
  const chunks = groundingMetadata?.groundingChunks ?? [];
  const supports = (groundingMetadata?.groundingSupports ?? []) as Json[];
  const indices = supports.flatMap((support) => support['groundingChunkIndices'] as number[]);
  const recited = (citationMetadata?.citationSources ??
    citationMetadata?.citations ??
    []) as Json[];
  return [
    ...indices.flatMap((index) => chunks[index].web?.uri ?? []),
    ...recited.flatMap(({ uri }) => uri ?? []),
  ] as string[];
}

/**
 * Other vendors' reasoning is sealed in base64, as the gateway documents. Other formats have no place for
 * Google's signatures of code and images.
 */
function readSignature({ thoughtSignature: signature, functionCall, text }: Json): string[] {
  if (typeof signature !== 'string') return [];
  const sealed = Buffer.from(signature, 'base64').toString('utf8');
  if (sealed.startsWith('tg1.')) return [sealed];
  return functionCall !== undefined || text !== undefined ? [signature] : [];
}

/** Arguments that are not a JSON object are sent as text under a name, as the gateway documents. */
function readCall({ name, args = {} }: Json): Reading['calls'][number] {
  const raw = (args as Json)['invalid_json_arguments'] as unknown;
  return { name: name as string, arguments: typeof raw === 'string' ? raw : args };
}

const filtered = ['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'MODEL_ARMOR'];
const badCalls = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'];

function readStop(reason: string | undefined, hasCalls: boolean): Reading['stop'] {
  if (reason === undefined || badCalls.includes(reason)) return 'failed';
  if (reason === 'MAX_TOKENS') return 'length';
  if (filtered.includes(reason)) return 'filter';
  return hasCalls ? 'tools' : 'end';
}

/**
 * Thoughts are counted in addition to the answer, tool input in addition to the prompt. Some
 * recordings lack the prompt's count.
 */
function readUsage(usage: Json | undefined): Counts | null {
  if (!usage) return null;
  const reasoning = (usage['thoughtsTokenCount'] ?? 0) as number;
  return {
    input: (usage['promptTokenCount'] ?? 0) + (usage['toolUsePromptTokenCount'] ?? 0),
    cacheRead: usage['cachedContentTokenCount'] ?? 0,
    cacheWrite: usage['cacheWriteTokenCount'] ?? 0,
    output: (usage['candidatesTokenCount'] ?? 0) + reasoning,
    reasoning,
  };
}
