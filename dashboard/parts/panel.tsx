import { Box, Group, Paper, Text, Title, type PaperProps } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './panel.module.css';

type Props = Omit<PaperProps, 'children'> & {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  /** Buttons to the right of the title. */
  readonly actions?: ReactNode;
  /** No padding, for tables that reach the edge. */
  readonly flush?: boolean;
  readonly children?: ReactNode;
};

/** A bordered section of a page with a level-2 heading. */
export function Panel({ title, description, actions, flush = false, children, ...paper }: Props) {
  return (
    <Paper component="section" className={classes.panel} {...paper}>
      {(title || actions) && (
        <Group justify="space-between" gap="sm" className={classes.head}>
          <Box miw={0}>
            {title && <Title order={2}>{title}</Title>}
            {description && (
              <Text c="dimmed" size="sm" mt={2}>
                {description}
              </Text>
            )}
          </Box>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      <div className={flush ? undefined : classes.body}>{children}</div>
    </Paper>
  );
}
