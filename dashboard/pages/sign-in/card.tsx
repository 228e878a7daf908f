// Layout of the sign-in pages.
import { Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useServiceName } from '../../api/session.ts';
import classes from './card.module.css';

type Props = {
  readonly title: string;
  readonly text?: ReactNode;
  readonly children?: ReactNode;
  /** Links below the card. */
  readonly footer?: ReactNode;
};

/** A card with one task. */
export function Card({ title, text, children, footer }: Props) {
  const service = useServiceName();
  useDocumentTitle(`${title} · ${service}`);
  return (
    <>
      <Paper className={classes.card}>
        <Title order={1}>{title}</Title>
        {text && (
          <Text c="dimmed" mt={4}>
            {text}
          </Text>
        )}
        {children && <Stack mt="lg">{children}</Stack>}
      </Paper>
      {footer && (
        <Text c="dimmed" ta="center">
          {footer}
        </Text>
      )}
    </>
  );
}
