// OpenAI wants an object at the top of an answer's schema, but Gemini's clients send lists and words too
// (ai.google.dev/gemini-api/docs/structured-output). Such a schema becomes the only field of an object,
// and the client gets that field's value.
import { deltaOf } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { OutputFormat } from '../../canonical/request.ts';

const field = 'answer';
const opening = new RegExp(`^\\s*\\{\\s*"${field}"\\s*:\\s*`);
const openingMax = 200;

/** Returns null for a format that needs no object around its schema. */
export function wrapSchema(format: OutputFormat): OutputFormat | null {
  if (format.type !== 'json-schema') return null;
  const { $defs, definitions, ...inner } = format.schema;
  if (inner.type === undefined || inner.type === 'object') return null;
  const schema = {
    type: 'object',
    properties: { [field]: inner },
    required: [field],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
  return { ...format, schema };
}

/** Takes the value out of an answer's texts. Any other text stays. Calls `drop` with what it removes. */
export function unwrapAnswer(
  drop: (event: StreamEvent) => void,
): (event: StreamEvent) => readonly StreamEvent[] {
  let state: 'before' | 'inside' | 'outside' = 'before';
  /** Text that may belong to the object. */
  let held = '';
  const show = (text: string) => {
    // White space comes without end from some models, so it is not read again.
    if (held !== '' && text.trim() === '') held += text;
    else {
      const whole = held + text;
      const end = whole.trimEnd();
      const shown = end.endsWith('}') ? end.slice(0, -1) : whole;
      held = whole.slice(shown.length);
      return deltaOf(shown);
    }
    return [];
  };
  const open = (text: string) => {
    held += text;
    if (!held.includes(':') && held.length <= openingMax) return [];
    const whole = held;
    held = '';
    const [found] = opening.exec(whole) ?? [];
    state = found === undefined ? 'outside' : 'inside';
    if (found === undefined) return deltaOf(whole);
    drop({ type: 'text-delta', text: found });
    return show(whole.slice(found.length));
  };
  return (event) => {
    if (event.type === 'text-delta' && state !== 'outside')
      return state === 'before' ? open(event.text) : show(event.text);
    if (event.type !== 'text-end') return [event];
    const rest = deltaOf(held);
    const wasInside = state === 'inside';
    held = '';
    state = 'before';
    if (!wasInside) return [...rest, event];
    for (const closing of rest) drop(closing);
    return [event];
  };
}
