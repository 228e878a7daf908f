import type { ReactNode } from 'react';
import type { Column } from './data-table-types.ts';
import { Money } from './money.tsx';
import { countText } from './number-text.ts';
import { DateTime, Day, TimeAgo } from './time-ago.tsx';

/** Returns a column's content for a row: by its `render`, else its `value` in the form of its kind. */
export function cellOf<Row>({ kind, never, value, render }: Column<Row>, row: Row): ReactNode {
  if (render) return render(row);
  const shown = value(row);
  const time = typeof shown === 'string' ? shown : null;
  switch (kind) {
    case 'money':
      return <Money micros={typeof shown === 'number' ? shown : null} />;
    case 'time':
      return <DateTime at={time} />;
    case 'day':
      return time && <Day at={time} />;
    case 'ago':
      return <TimeAgo at={time} never={never} />;
    case undefined:
      return typeof shown === 'number' ? countText(shown) : shown;
  }
}

export function alignOf({ align, title, kind }: Pick<Column<never>, 'align' | 'title' | 'kind'>) {
  return align ?? (title === '' || kind === 'money' ? 'right' : undefined);
}
