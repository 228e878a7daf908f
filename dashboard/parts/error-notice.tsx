import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ApiError } from '../api/api-error.ts';
import { CopyButton } from './copy-button.tsx';

type Props = {
  readonly error: ApiError;
  readonly onRetry?: () => void;
};

/** What went wrong, in the gateway's words, with the request id that its operator can look up. */
export function ErrorNotice({ error, onRetry }: Props) {
  const { message } = error;
  // Of a wrong password there is nothing to look up.
  const requestId = error.status === 401 ? null : error.requestId;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} role="alert">
      <Text>{message}</Text>
      {(requestId || onRetry) && (
        <Group gap="sm" mt="xs">
          {onRetry && (
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {requestId && (
            <Group gap={4} wrap="nowrap">
              <Text size="xs">
                Request <Code>{requestId}</Code>
              </Text>
              <CopyButton text={requestId} label="Copy the request id" size="xs" />
            </Group>
          )}
        </Group>
      )}
    </Alert>
  );
}
