// Reasoning in Chat. OpenAI's own API shows none. Other hosts send the text as `reasoning_content`
// (DeepSeek, xAI) or `reasoning` (OpenRouter, Groq), and OpenRouter sends signed and hidden blocks
// as `reasoning_details`; Moonshot has such details of its own. The gateway writes
// `reasoning_content`, and adds `reasoning_details` for signed blocks, so that a Chat client can
// return the signature.
// https://openrouter.ai/docs/use-cases/reasoning-tokens
import type { Signature, Vendor } from '../../canonical/request.ts';
import { isObject, type JsonObject, listOf, textOf } from '../../lib/json.ts';
import {
  readPlace,
  writePlace,
  type PlacedThinking,
  type ThinkingPlace,
} from './thinking-places.ts';

const detailFormats: Readonly<Record<Vendor, string>> = {
  anthropic: 'anthropic-claude-v1',
  openai: 'openai-responses-v1',
  google: 'google-gemini-v1',
  xai: 'xai-responses-v1',
  moonshot: 'moonshot',
};

/** Reads the reasoning of a whole message. Details replace the plain text, which repeats them. */
export function readReasoning(message: JsonObject): PlacedThinking[] {
  const blocks = readDetails(message.reasoning_details);
  const text = readReasoningText(message);
  if (text === '' || blocks.some(({ part }) => part.text !== '')) return blocks;
  const signed = blocks.findIndex(({ part }) => !part.redacted);
  if (signed === -1) {
    const unsigned = { type: 'thinking', text, signature: null, redacted: false } as const;
    return [{ part: unsigned, place: null }, ...blocks];
  }
  const { part, place } = blocks[signed]!;
  return blocks.with(signed, { part: { ...part, text }, place });
}

/** Returns the plain reasoning text of a message or delta; some hosts send it under both names. */
export function readReasoningText(message: JsonObject): string {
  if (typeof message.reasoning_content === 'string') return message.reasoning_content;
  return textOf(message.reasoning);
}

type ReasoningDetail = {
  readonly index: unknown;
  readonly place: ThinkingPlace | null;
  readonly text: string;
  readonly signature: Signature | null;
  readonly redacted: boolean;
};

/**
 * Returns null for a detail of an unknown kind, and for hidden reasoning of an unknown vendor,
 * which no model could take back.
 */
export function readDetail(detail: unknown): ReasoningDetail | null {
  if (!isObject(detail)) return null;
  const { index, type, format } = detail;
  const place = readPlace(detail.id);
  // Moonshot's. Its details of type `summary` repeat `reasoning_content`.
  if (type === 'encrypted') {
    const signature = readSignature(detail.encrypted, detailFormats.moonshot);
    return signature && { index, place, text: '', signature, redacted: true };
  }
  if (type === 'reasoning.encrypted') {
    const signature = readSignature(detail.data, format);
    return signature && { index, place, text: '', signature, redacted: true };
  }
  const text =
    type === 'reasoning.summary'
      ? detail.summary
      : type === 'reasoning.text'
        ? detail.text
        : undefined;
  const signature = readSignature(detail.signature, format);
  if (typeof text !== 'string' && !signature) return null;
  return { index, place, text: textOf(text), signature, redacted: false };
}

/** Returns the reasoning fields of an assistant message or a whole answer. */
export function writeReasoning(blocks: readonly PlacedThinking[]): JsonObject {
  const text = blocks.map(({ part }) => (part.redacted ? '' : part.text)).join('');
  const isSigned = blocks.some(({ part }) => part.signature);
  const write = blocks.some(isMoonshots) ? writeMoonshotDetail : writeDetail;
  const details = isSigned ? blocks.map(write).filter((detail) => detail !== null) : [];
  return {
    ...(text === '' ? null : { reasoning_content: text }),
    ...(details.length === 0 ? null : { reasoning_details: details }),
  };
}

/**
 * Writes a block with its whole text, so that a client that keeps only details can return it
 * unchanged. Returns null for a hidden block without a signature.
 */
export function writeDetail({ part, place }: PlacedThinking, index: number): JsonObject | null {
  const { signature, text } = part;
  if (isMoonshots({ part, place })) return writeMoonshotDetail({ part, place });
  // Google's signatures contain their place.
  const id = place && signature?.vendor !== 'google' ? writePlace(place) : {};
  if (part.redacted) {
    return (
      signature && {
        type: 'reasoning.encrypted',
        ...id,
        index,
        data: signature.value,
        format: detailFormats[signature.vendor],
      }
    );
  }
  if (!signature) return { type: 'reasoning.text', ...id, index, text };
  return {
    type: 'reasoning.text',
    ...id,
    index,
    text,
    signature: signature.value,
    format: detailFormats[signature.vendor],
  };
}

function isMoonshots({ part }: PlacedThinking): boolean {
  return part.signature?.vendor === 'moonshot';
}

/** Moonshot refuses other details, and an index. */
function writeMoonshotDetail({ part: { signature, text } }: PlacedThinking): JsonObject {
  return signature
    ? { type: 'encrypted', encrypted: signature.value }
    : { type: 'summary', summary: text };
}

/**
 * Clients that collect a stream may return a block in pieces. Pieces with the same index form one
 * block, up to its signature.
 */
function readDetails(details: unknown): PlacedThinking[] {
  const blocks: PlacedThinking[] = [];
  let lastIndex: unknown;
  for (const value of listOf(details)) {
    const detail = readDetail(value);
    if (!detail) continue;
    const { index, place, text, signature, redacted } = detail;
    const last = blocks.at(-1);
    if (last && !last.part.signature && !redacted && index === lastIndex) {
      blocks[blocks.length - 1] = {
        ...last,
        part: { ...last.part, text: last.part.text + text, signature },
      };
    } else {
      blocks.push({ part: { type: 'thinking', text, signature, redacted }, place });
    }
    lastIndex = index;
  }
  return blocks;
}

function readSignature(value: unknown, format: unknown): Signature | null {
  if (typeof value !== 'string' || value === '' || typeof format !== 'string') return null;
  const vendor = vendors.find((name) => format.includes(name));
  return vendor ? { vendor, value } : null;
}

const vendors = Object.keys(detailFormats) as Vendor[];

/** Models that can think do so by default. Each family of hosts has its own switch. */
export function mayThink({
  reasoning_effort: effort,
  reasoning,
  thinking,
  enable_thinking: enabled,
  chat_template_kwargs: template,
}: JsonObject): boolean {
  const isOff =
    effort === 'none' ||
    enabled === false ||
    (isObject(reasoning) && (reasoning.enabled === false || reasoning.effort === 'none')) ||
    (isObject(thinking) && thinking.type === 'disabled') ||
    (isObject(template) && (template.enable_thinking === false || template.thinking === false));
  return !isOff;
}
