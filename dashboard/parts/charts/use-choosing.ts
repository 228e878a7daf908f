// The point under a chart's pointer, and the points that a drag chooses. The arrow keys move the
// point, and Enter chooses it.
import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { pointAt, type Columns } from './layout.ts';

/** A shorter drag is a click, in pixels. */
const dragMin = 6;

/** `to` is null until the pointer has moved far enough. `count`: the points that there were. */
type Drag = {
  readonly x: number;
  readonly from: number;
  readonly to: number | null;
  readonly count: number;
};

/** `onChoose` is called with the first and the last point. */
export function useChoosing(
  columns: Columns,
  onChoose: ((first: number, last: number) => void) | undefined,
) {
  const [active, setActive] = useState<number | null>(null);
  const [begun, setDrag] = useState<Drag | null>(null);
  // Another range may come during a drag, which would choose points that are gone.
  const drag = begun?.count === columns.count ? begun : null;
  const chosen =
    drag && drag.to !== null
      ? { first: Math.min(drag.from, drag.to), last: Math.max(drag.from, drag.to) }
      : null;
  const pointOf = (event: PointerEvent) =>
    pointAt(event.clientX - event.currentTarget.getBoundingClientRect().left, columns);
  const stop = () => {
    setDrag(null);
    setActive(null);
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      setActive(pointOf(event));
      if (!onChoose || event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setDrag({ x: event.clientX, from: pointOf(event), to: null, count: columns.count });
    },
    onPointerMove: (event: PointerEvent) => {
      setActive(pointOf(event));
      if (drag && (chosen || Math.abs(event.clientX - drag.x) >= dragMin))
        setDrag({ ...drag, to: pointOf(event) });
    },
    onPointerUp: () => {
      setDrag(null);
      if (!chosen) return;
      stop();
      onChoose?.(chosen.first, chosen.last);
    },
    // The browser scrolls instead.
    onPointerCancel: stop,
    // A finger leaves when it is lifted, and its figures stay.
    onPointerLeave: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') stop();
    },
    onKeyDown: (event: KeyboardEvent) => {
      const last = columns.count - 1;
      const moved = new Map([
        ['ArrowLeft', Math.max((active ?? columns.count) - 1, 0)],
        ['ArrowRight', Math.min((active ?? -1) + 1, last)],
        ['Home', 0],
        ['End', last],
      ]).get(event.key);
      if (event.key === 'Escape') stop();
      else if (event.key === 'Enter' && active !== null) onChoose?.(active, active);
      else if (moved !== undefined) {
        event.preventDefault();
        setActive(moved);
      }
    },
    onBlur: stop,
  };
  // Another range may have fewer points.
  return { active: active !== null && active < columns.count ? active : null, chosen, handlers };
}
