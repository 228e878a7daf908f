// A host that goes on from the beginning of an answer (a prefill) may send that beginning again. Clients
// have it, so it is dropped.
import type { Answer } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';

/** Drops the echo from one stream's events, and calls `drop` with it. A text that begins otherwise stays. */
export function dropEcho(
  echo: string,
  drop: (event: StreamEvent) => void,
): (event: StreamEvent) => readonly StreamEvent[] {
  let isOver = echo === '';
  /** Text that may be a part of the echo. */
  let held = '';
  const release = (text: string) => {
    isOver = true;
    held = '';
    return text === '' ? [] : [{ type: 'text-delta', text } as const];
  };
  return (event) => {
    if (isOver) return [event];
    if (event.type === 'text-end') return [...release(held), event];
    if (event.type !== 'text-delta') return [event];
    held += event.text;
    if (held.length < echo.length && echo.startsWith(held)) return [];
    if (!held.startsWith(echo)) return release(held);
    drop({ type: 'text-delta', text: echo });
    return release(held.slice(echo.length));
  };
}

/** Does the same for a whole answer. */
export function withoutEcho(answer: Answer, echo: string): Answer {
  const first = answer.content.findIndex(({ type }) => type === 'text');
  const content = answer.content.map((part, index) =>
    index === first && part.type === 'text' && part.text.startsWith(echo)
      ? { ...part, text: part.text.slice(echo.length) }
      : part,
  );
  return { ...answer, content };
}
