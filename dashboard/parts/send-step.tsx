import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { IconPlayerStop, IconSend } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useAccount } from '../api/account.ts';
import { toApiError, type ApiError } from '../api/api-error.ts';
import { ErrorNotice } from './error-notice.tsx';
import { AppLink } from './link.tsx';
import { Money } from './money.tsx';
import { countText, durationText } from './number-text.ts';
import { chatFormats } from '../api/chat-formats/registry.ts';
import { defaultSettings } from '../api/chat-formats/types.ts';
import { noProgress, runChat, type Progress } from '../api/run-chat.ts';
import classes from './send-step.module.css';

type Props = {
  /** Null when there is no key yet. */
  readonly keyId: string | null;
  /** Null when no model can run. */
  readonly model: string | null;
  readonly text: string;
  /** False while keys and models load. */
  readonly isReady: boolean;
  /** Called after a complete answer. */
  readonly onSent?: () => void;
};

/** Sends the request and shows the answer as it arrives. */
export function SendStep({ keyId, model, text, isReady, onSent }: Props) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  const latest = useRef<AbortController | null>(null);
  useEffect(() => () => latest.current?.abort(), []);
  const send = async (key: string, modelId: string) => {
    const controller = new AbortController();
    latest.current = controller;
    setRunning(controller);
    setError(null);
    setProgress(noProgress);
    const request = {
      ...defaultSettings,
      model: modelId,
      messages: [{ role: 'user', text }],
    } as const;
    try {
      await runChat(
        { account, key, format: chatFormats.chat, request, signal: controller.signal },
        setProgress,
      );
      onSent?.();
      await client.invalidateQueries({ queryKey: ['GET /accounts/:account/overview'] });
      await client.invalidateQueries({ queryKey: ['GET /accounts/:account/analytics'] });
    } catch (thrown) {
      if (!controller.signal.aborted) setError(toApiError(thrown));
    } finally {
      setRunning(null);
    }
  };
  const canSend = keyId !== null && model !== null;
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Button
          leftSection={<IconSend size={16} aria-hidden />}
          disabled={!canSend}
          loading={running !== null}
          onClick={() => canSend && void send(keyId, model)}
        >
          {progress === null ? 'Send the request' : 'Send again'}
        </Button>
        {running && (
          <Button
            variant="default"
            leftSection={<IconPlayerStop size={16} aria-hidden />}
            onClick={() => running.abort()}
          >
            Stop
          </Button>
        )}
        <Text size="sm" c="dimmed">
          {isReady && model === null ? (
            'No model is available: the operator has not switched on a provider.'
          ) : keyId === null ? (
            'Create a key first.'
          ) : (
            <>
              “{text}” to {model ?? '…'}
            </>
          )}
        </Text>
      </Group>
      {error && <ErrorNotice error={error} />}
      {progress && (running !== null || progress.answer.text) && (
        <Answer progress={progress} isRunning={running !== null} />
      )}
    </Stack>
  );
}

function Answer({
  progress,
  isRunning,
}: {
  readonly progress: Progress;
  readonly isRunning: boolean;
}) {
  const { answer, elapsedMs } = progress;
  return (
    <Paper withBorder p="md" radius="md">
      <Text component="div" className={classes.answer} aria-live="polite" aria-busy={isRunning}>
        {answer.text || (
          <Text span c="dimmed">
            Waiting for the answer…
          </Text>
        )}
      </Text>
      {!isRunning && (
        <Text component="div" size="sm" c="dimmed" mt="xs">
          {answer.costMicros !== undefined && (
            <>
              Cost <Money micros={answer.costMicros} fw={500} c="var(--mantine-color-text)" />{' '}
              ·{' '}
            </>
          )}
          {answer.outputTokens !== undefined &&
            `${countText((answer.inputTokens ?? 0) + answer.outputTokens)} tokens · `}
          {durationText(elapsedMs)} · <AppLink to="/requests">view in Requests</AppLink>
        </Text>
      )}
    </Paper>
  );
}
