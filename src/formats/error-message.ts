// The upstream's own words out of an error body. One reading for all: hosts of one wire format differ more in this than formats do.
import { isObject } from '../lib/json.ts';

const charactersMax = 2_000;

/**
 * OpenAI and Anthropic `{error: {message}}`, xAI `{error: "…"}`, Mistral `{detail: "…"}`, FastAPI's list of `{msg}`, vLLM `{message}`,
 * Gemini's `[{error}]`, or plain text. null when there are none, as in a proxy's HTML page. `body` is parsed JSON, or text where it was none.
 */
export function readErrorMessage(body: unknown): string | null {
  if (typeof body === 'string') return readPlainMessage(body);
  if (Array.isArray(body)) return readErrorMessage(body[0]);
  if (!isObject(body)) return null;
  const { error, message, detail, msg } = body;
  return readErrorMessage(error) ?? readErrorMessage(message) ?? readErrorMessage(detail) ?? readErrorMessage(msg);
}

/** A proxy's HTML page says nothing to a developer. */
function readPlainMessage(text: string): string | null {
  const plain = text.trim();
  return plain === '' || plain.startsWith('<') ? null : plain.slice(0, charactersMax);
}
