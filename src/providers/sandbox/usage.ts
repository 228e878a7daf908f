// The sandbox's token counts. Our own rule, one token for every four bytes of text, is easy to
// check by hand.
import { wordsOf } from '../../canonical/answer.ts';
import type { SpokenPart, Message, Tool } from '../../canonical/request.ts';
import { noUsage, type Usage } from '../../canonical/usage.ts';
import { isSound } from '../../formats/input-audio.ts';
import { estimateAudioTokens } from '../../lib/audio-tokens.ts';
import { plainImageTokens } from '../../lib/image-tokens.ts';
import { tokensFromBytes, utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { SandboxRequest } from './request.ts';

/**
 * Counts a request's input tokens: the UTF-8 bytes of all text in the instructions, messages and
 * tool definitions, divided by four and rounded up once, plus a fixed count for every image and
 * document, and the length of sound.
 */
export function countInputTokens(request: SandboxRequest): number {
  const parts = partsOf(request);
  const bytes = [...request.system, ...parts].reduce((sum, part) => sum + partBytes(part), 0);
  const media = parts.filter(
    (part) => (part.type === 'image' || part.type === 'document') && soundOf(part) === null,
  );
  return (
    tokensFromBytes(bytes + request.tools.reduce((sum, tool) => sum + toolBytes(tool), 0)) +
    media.length * plainImageTokens +
    countSoundTokens(parts)
  );
}

/** Returns an answer's usage. Thinking and tool arguments count as output. */
export function countUsage(request: SandboxRequest, content: readonly SpokenPart[]): Usage {
  const thinking = content.filter((part) => part.type === 'thinking');
  const audioTokens = countSoundTokens(partsOf(request));
  return {
    ...noUsage,
    inputTokens: countInputTokens(request),
    ...(audioTokens > 0 && { audioTokens }),
    outputTokens: countTokens(content),
    reasoningTokens: countTokens(thinking),
  };
}

function countTokens(content: readonly SpokenPart[]): number {
  return tokensFromBytes(content.reduce((sum, part) => sum + utf8Length(wordsOf(part)), 0));
}

type Part = Message['content'][number];

function partsOf({ messages }: SandboxRequest): readonly Part[] {
  return messages.flatMap((message) => [...flattenParts(message)]);
}

/** Ten tokens a second, begun ones in part. */
function countSoundTokens(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => {
    const sound = soundOf(part);
    if (sound === null) return sum;
    const tokens = estimateAudioTokens(Buffer.from(sound, 'base64'), 'sandbox', 'wav');
    return sum + (tokens?.likely ?? plainImageTokens);
  }, 0);
}

/** Returns the base64 of sound; null for other parts. */
function soundOf(part: Part): string | null {
  if (part.type !== 'document' || part.source.kind !== 'base64') return null;
  return isSound(part.source.mediaType) ? part.source.data : null;
}

/** The parts of a message, including those inside tool results. */
function* flattenParts(message: Message): Generator<Part> {
  for (const part of message.content) {
    yield part;
    if (part.type === 'tool-result') yield* part.content;
  }
}

function partBytes(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
    case 'refusal':
      return utf8Length(part.text);
    case 'tool-call':
      return utf8Length(part.name) + utf8Length(part.arguments);
    case 'image':
    case 'document':
    case 'tool-result':
      return 0;
  }
}

function toolBytes({ name, description, parameters }: Tool): number {
  return (
    utf8Length(name) +
    utf8Length(description ?? '') +
    (parameters ? utf8Length(JSON.stringify(parameters)) : 0)
  );
}
