// A host that goes on from the beginning of an answer (a prefill) may send that beginning again. Clients
// have it, so it is dropped.
import type { StreamEvent } from '../../canonical/event.ts';

/**
 * Drops the echo from one answer's events: the model has not written it, so it is not counted either. A
 * text that begins otherwise stays; one that is nothing but the echo is no text.
 */
export function dropEcho(echo: string): (event: StreamEvent) => readonly StreamEvent[] {
  let isOver = echo === '';
  /** Characters of the echo that have come. */
  let matched = 0;
  const start = { type: 'text-start' } as const;
  const release = (text: string): readonly StreamEvent[] => {
    isOver = true;
    return text === '' ? [start] : [start, { type: 'text-delta', text }];
  };
  return (event) => {
    if (isOver) return [event];
    if (event.type === 'text-start') return [];
    if (event.type === 'text-end' && matched === echo.length) {
      isOver = true;
      return [];
    }
    if (event.type === 'text-end' || event.type === 'citation')
      return [...release(echo.slice(0, matched % echo.length)), event];
    if (event.type !== 'text-delta') return [event];
    const { text } = event;
    const due = Math.min(text.length, echo.length - matched);
    // Only the new piece is compared, because a long echo may come in many.
    if (!echo.startsWith(text.slice(0, due), matched))
      return release(echo.slice(0, matched) + text);
    matched += due;
    const own = text.slice(due);
    return own === '' ? [] : release(own);
  };
}
