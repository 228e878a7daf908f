// Warnings from the gateway, one per line.
import { Alert, List } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

export function WarningList({
  title,
  warnings,
}: {
  readonly title: string;
  readonly warnings: readonly string[];
}) {
  return (
    <Alert color="orange" variant="light" icon={<IconAlertTriangle aria-hidden />} title={title}>
      <List size="sm" spacing={4}>
        {warnings.map((warning) => (
          <List.Item key={warning} style={{ overflowWrap: 'anywhere' }}>
            {warning}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
