// A host that goes on from the beginning of an answer (a prefill) may send that beginning again. Clients
// have it, so it is dropped.
import type { StreamEvent } from '../../canonical/event.ts';

/** Drops the echo from one answer's events, and calls `drop` with it. A text that begins otherwise stays. */
export function dropEcho(
  echo: string,
  drop: (event: StreamEvent) => void,
): (event: StreamEvent) => readonly StreamEvent[] {
  let isOver = echo === '';
  /** Characters of the echo that have come. */
  let matched = 0;
  const release = (text: string) => {
    isOver = true;
    return text === '' ? [] : [{ type: 'text-delta', text } as const];
  };
  return (event) => {
    if (isOver) return [event];
    if (event.type === 'text-end') return [...release(echo.slice(0, matched)), event];
    if (event.type !== 'text-delta') return [event];
    const { text } = event;
    const due = Math.min(text.length, echo.length - matched);
    // Only the new piece is compared, because a long echo may come in many.
    if (!echo.startsWith(text.slice(0, due), matched))
      return release(echo.slice(0, matched) + text);
    matched += due;
    if (matched < echo.length) return [];
    drop({ type: 'text-delta', text: echo });
    return release(text.slice(due));
  };
}
