import { Box, Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useServiceName } from '../api/session.ts';

type Props = {
  readonly title: string;
  readonly description?: ReactNode;
  /** Buttons on the right. */
  readonly actions?: ReactNode;
};

/** Heading of a page. Also sets the title of the browser tab. */
export function PageHeader({ title, description, actions }: Props) {
  const service = useServiceName();
  useDocumentTitle(`${title} · ${service}`);
  return (
    <Group justify="space-between" align="flex-start" gap="md" mb="xl">
      <Box miw={0} style={{ flex: '1 1 280px' }}>
        <Title order={1}>{title}</Title>
        {description && (
          <Text c="dimmed" mt={4}>
            {description}
          </Text>
        )}
      </Box>
      {actions && <Group gap="sm">{actions}</Group>}
    </Group>
  );
}
