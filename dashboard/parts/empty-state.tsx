import { Center, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { IconProps } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';

type Props = {
  readonly icon: ComponentType<IconProps>;
  readonly title: string;
  readonly text?: ReactNode;
  /** A button for the next step. */
  readonly action?: ReactNode;
};

/** Explains why a list is empty and what to do next. */
export function EmptyState({ icon: Icon, title, text, action }: Props) {
  return (
    <Center py={56} px="md">
      <Stack align="center" gap="xs" maw={440}>
        <ThemeIcon size={44} radius="xl" variant="light" color="gray" mb={4}>
          <Icon size={22} stroke={1.6} aria-hidden />
        </ThemeIcon>
        <Title order={2} fz="lg" ta="center">
          {title}
        </Title>
        {text && (
          <Text c="dimmed" ta="center">
            {text}
          </Text>
        )}
        {action && <div style={{ marginTop: 8 }}>{action}</div>}
      </Stack>
    </Center>
  );
}
