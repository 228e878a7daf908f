import { Badge, Tooltip } from '@mantine/core';
import { useState } from 'react';
import type { ChatModel } from '../../src/management/contract/models.ts';
import { dayText } from './time-text.ts';

type Ending = Pick<ChatModel, 'retires_at' | 'successor'>;

/** Marks a model whose provider ends it, and names its successor. Nothing when no end is announced. */
export function EndBadge({ model: { retires_at: end, successor } }: { readonly model: Ending }) {
  const [nowMs] = useState(() => Date.now());
  if (end === null) return null;
  const hasEnded = Date.parse(end) <= nowMs;
  const badge = (
    <Badge component="span" size="sm" color={hasEnded ? 'red' : 'orange'}>
      {hasEnded ? 'Ended' : `Ends ${dayText(end)}`}
    </Badge>
  );
  return successor === null ? (
    badge
  ) : (
    <Tooltip label={`Use ${successor} instead.`}>{badge}</Tooltip>
  );
}
