// How a figure has changed: an arrow, a sign, and a colour that says whether that is good.
import { Text, VisuallyHidden } from '@mantine/core';
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react';
import { changeText } from '../change-text.ts';

type Props = {
  readonly now: number;
  readonly before: number;
  /** Which change is good for the reader; undefined: neither, as for a cost. */
  readonly good?: 'higher' | 'lower' | undefined;
};

/** `<Trend now={12} before={10} good="lower" />`: `↗ +20%` in red. Nothing when `before` is zero. */
export function Trend({ now, before, good }: Props) {
  const text = changeText(now, before);
  if (text === '' || text === 'unchanged') return text;
  const isHigher = now > before;
  const isGood = good && isHigher === (good === 'higher');
  const Arrow = isHigher ? IconArrowUpRight : IconArrowDownRight;
  return (
    <Text
      span
      inherit
      fw={500}
      c={isGood === undefined ? undefined : isGood ? 'green' : 'red'}
      style={{ whiteSpace: 'nowrap' }}
    >
      <Arrow size={14} aria-hidden style={{ verticalAlign: '-2px' }} />
      {text}
      {isGood !== undefined && <VisuallyHidden>, {isGood ? 'better' : 'worse'}</VisuallyHidden>}
    </Text>
  );
}
