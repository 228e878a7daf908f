// The upstream's own words out of an error body. One reading for all: hosts of one wire format differ more in this than formats do.
import { isObject } from '../lib/json.ts';

const charactersMax = 2_000;
/** No host wraps its message deeper; an upstream may send anything. */
const levelsMax = 8;

/**
 * OpenAI and Anthropic `{error: {message}}`, xAI `{error: "…"}`, Mistral `{detail: "…"}`, FastAPI's list of `{msg}`, vLLM `{message}`,
 * Gemini's `[{error}]`, or plain text. null when there are none, as in a proxy's HTML page. `body` is parsed JSON, or text where it was none.
 */
export function readErrorMessage(body: unknown): string | null {
  return readWithin(body, levelsMax);
}

function readWithin(body: unknown, levels: number): string | null {
  if (typeof body === 'string') return readPlainMessage(body);
  if (levels === 0) return null;
  if (Array.isArray(body)) return readWithin(body[0], levels - 1);
  if (!isObject(body)) return null;
  for (const inner of [body.error, body.message, body.detail, body.msg]) {
    const message = readWithin(inner, levels - 1);
    if (message !== null) return message;
  }
  return null;
}

/** A proxy's HTML page says nothing to a developer. */
function readPlainMessage(text: string): string | null {
  const plain = text.trim();
  return plain === '' || plain.startsWith('<') ? null : plain.slice(0, charactersMax);
}
