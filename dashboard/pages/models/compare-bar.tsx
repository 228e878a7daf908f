import { Button, Text } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { comparedMin } from './comparison.ts';
import classes from './comparison.module.css';

type Props = {
  readonly count: number;
  readonly onCompare: () => void;
  readonly onClear: () => void;
};

/** Stays in view while models are selected. */
export function CompareBar({ count, onCompare, onClear }: Props) {
  if (count === 0) return null;
  return (
    <div className={classes.bar} role="region" aria-label="Selected models">
      <Text size="sm">{count < comparedMin ? 'Select another model' : `${count} selected`}</Text>
      <Button
        size="xs"
        disabled={count < comparedMin}
        leftSection={<IconColumns3 size={16} aria-hidden />}
        onClick={onCompare}
      >
        Compare
      </Button>
      <Button size="xs" variant="default" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
