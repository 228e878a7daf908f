import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ApiError } from '../api/api-error.ts';
import { CopyButton } from './copy-button.tsx';
import classes from './error-notice.module.css';

type Props = {
  readonly error: ApiError;
  readonly onRetry?: () => void;
};

/** The gateway's error message, with the request id for the operator. */
export function ErrorNotice({ error, onRetry }: Props) {
  const { message } = error;
  // A wrong password leaves nothing for the operator to look up.
  const requestId = error.status === 401 ? null : error.requestId;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} role="alert">
      <Text className={classes.text}>{message}</Text>
      {(requestId || onRetry) && (
        <Group gap="sm" mt="xs">
          {onRetry && (
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {requestId && (
            <Group gap={4} wrap="nowrap">
              <Text size="xs" className={classes.text}>
                Request <Code>{requestId}</Code>
              </Text>
              <CopyButton text={requestId} label="Copy request ID" size="xs" />
            </Group>
          )}
        </Group>
      )}
    </Alert>
  );
}
