// Reasoning in Chat. OpenAI's own API shows none; other hosts send the text as `reasoning_content` (DeepSeek, xAI) or `reasoning`
// (OpenRouter, Groq), and OpenRouter sends signed and hidden blocks as `reasoning_details`. The gateway writes `reasoning_content`, and
// `reasoning_details` where a block is signed, so that the signature finds its way back through a Chat client.
// https://openrouter.ai/docs/use-cases/reasoning-tokens
import type { Signature, ThinkingPart, Vendor } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

const detailFormats: Readonly<Record<Vendor, string>> = {
  anthropic: 'anthropic-claude-v1',
  openai: 'openai-responses-v1',
  google: 'google-gemini-v1',
};

/** The reasoning of a whole message. Details count over the plain text, which repeats them. */
export function readReasoning(message: JsonObject): ThinkingPart[] {
  const parts = readDetails(message.reasoning_details);
  const text = readReasoningText(message);
  if (text === '' || parts.some((part) => part.text !== '')) return parts;
  const signed = parts.findIndex((part) => !part.redacted);
  if (signed === -1) return [{ type: 'thinking', text, signature: null, redacted: false }, ...parts];
  return parts.with(signed, { ...parts[signed]!, text });
}

/** The plain text of a message or delta; some hosts send it under both names. */
export function readReasoningText(message: JsonObject): string {
  if (typeof message.reasoning_content === 'string') return message.reasoning_content;
  return typeof message.reasoning === 'string' ? message.reasoning : '';
}

type ReasoningDetail = {
  readonly index: unknown;
  readonly text: string;
  readonly signature: Signature | null;
  readonly redacted: boolean;
};

/** null for a detail of an unknown kind, or hidden reasoning of an unknown vendor: nobody could take it back. */
export function readDetail(detail: unknown): ReasoningDetail | null {
  if (!isObject(detail)) return null;
  const { index, type, format } = detail;
  if (type === 'reasoning.encrypted') {
    const signature = readSignature(detail.data, format);
    return signature && { index, text: '', signature, redacted: true };
  }
  const text = type === 'reasoning.summary' ? detail.summary : type === 'reasoning.text' ? detail.text : undefined;
  const signature = readSignature(detail.signature, format);
  if (typeof text !== 'string' && !signature) return null;
  return { index, text: typeof text === 'string' ? text : '', signature, redacted: false };
}

/** The fields of an assistant message or of a whole answer. */
export function writeReasoning(parts: readonly ThinkingPart[]): JsonObject {
  const text = parts.map((part) => (part.redacted ? '' : part.text)).join('');
  const details = parts.some((part) => part.signature) ? parts.map(writeDetail).filter((detail) => detail !== null) : [];
  return {
    ...(text === '' ? null : { reasoning_content: text }),
    ...(details.length === 0 ? null : { reasoning_details: details }),
  };
}

/** A block with its whole text: a client that only keeps details can send it back as it came. null: hidden and unsigned. */
export function writeDetail(part: ThinkingPart, index: number): JsonObject | null {
  const { signature, text } = part;
  if (part.redacted) {
    return signature && { type: 'reasoning.encrypted', index, data: signature.value, format: detailFormats[signature.vendor] };
  }
  if (!signature) return { type: 'reasoning.text', index, text };
  return { type: 'reasoning.text', index, text, signature: signature.value, format: detailFormats[signature.vendor] };
}

/** Clients that collect a stream may send a block back in its pieces: those of one index are one block, until its signature. */
function readDetails(details: unknown): ThinkingPart[] {
  const parts: ThinkingPart[] = [];
  let lastIndex: unknown;
  for (const value of Array.isArray(details) ? details : []) {
    const detail = readDetail(value);
    if (!detail) continue;
    const last = parts.at(-1);
    if (last && !last.signature && !detail.redacted && detail.index === lastIndex) {
      parts[parts.length - 1] = { ...last, text: last.text + detail.text, signature: detail.signature };
    } else {
      parts.push({ type: 'thinking', text: detail.text, signature: detail.signature, redacted: detail.redacted });
    }
    lastIndex = detail.index;
  }
  return parts;
}

function readSignature(value: unknown, format: unknown): Signature | null {
  if (typeof value !== 'string' || value === '' || typeof format !== 'string') return null;
  const vendor = (['anthropic', 'openai', 'google'] as const).find((name) => format.includes(name));
  return vendor ? { vendor, value } : null;
}

/** Models that can think do so unasked; each family of hosts has a switch of its own. */
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
