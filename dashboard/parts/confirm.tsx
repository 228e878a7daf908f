// Confirmation dialog for changes that cannot be undone.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import { showSuccess } from './notify.ts';
import { useRun } from './use-run.ts';

type Question = {
  /** `Revoke the key “build”?` */
  readonly title: string;
  /** Describes what will happen. */
  readonly text: ReactNode;
  /** Label of the button: `Revoke`. */
  readonly action: string;
  /** Makes the button red, for destructive actions. */
  readonly danger?: boolean;
  /** Text that the user must type first. */
  readonly typed?: string;
  /**
   * Runs after confirmation. The dialog waits for it, and stays open with the error if it throws.
   */
  readonly run: () => Promise<unknown>;
  /** Says that it is done. */
  readonly done?: string;
};

/** `confirm({ title, text, action: 'Revoke', danger: true, run: () => revoke.mutateAsync({ params }) });` */
export function confirm(question: Question): void {
  const id = modals.open({
    title: question.title,
    children: <ConfirmDialog {...question} onClose={() => modals.close(id)} />,
  });
}

function ConfirmDialog({
  text,
  action,
  danger = false,
  typed,
  run,
  done,
  onClose,
}: Question & { readonly onClose: () => void }) {
  const [entered, setEntered] = useState('');
  const { start, isRunning, error } = useRun(async () => {
    await run();
    if (done !== undefined) showSuccess(done);
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void start();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text component="div">{text}</Text>
        {typed !== undefined && (
          <TextInput
            label={`Type “${typed}” to confirm`}
            value={entered}
            onChange={(event) => setEntered(event.currentTarget.value)}
            data-autofocus
          />
        )}
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isRunning}>
            Cancel
          </Button>
          <Button
            type="submit"
            color={danger ? 'red' : undefined}
            loading={isRunning}
            disabled={typed !== undefined && entered.trim() !== typed}
            data-autofocus={typed === undefined || undefined}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
