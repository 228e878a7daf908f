import { Button, Group, Stack, type ButtonProps, type StackProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import type { useFormSubmit } from './use-form-submit.ts';

type Props = StackProps & {
  readonly sending: ReturnType<typeof useFormSubmit>;
  /** The text of the button that submits the form. */
  readonly submit: string;
  readonly button?: Pick<ButtonProps, 'variant' | 'color' | 'disabled' | 'fullWidth'>;
  /** Adds a button Cancel, which calls it. Left out: the form is in no dialog. */
  readonly onClose?: () => void;
  /** Shown beside the button. */
  readonly beside?: ReactNode;
};

/**
 * The fields of a form, its error and its buttons.
 *
 *   <SubmitForm sending={useFormSubmit(form, …)} submit="Create key">
 *     <TextInput label="Name" {...form.getInputProps('name')} />
 *   </SubmitForm>
 */
export function SubmitForm({ sending, submit, button, onClose, beside, children, ...look }: Props) {
  const { onSubmit, error, isSubmitting } = sending;
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack {...look}>
        {children}
        {error && <ErrorNotice error={error} />}
        <Group justify={onClose && 'flex-end'}>
          {onClose && (
            <Button variant="default" onClick={onClose} disabled={isSubmitting}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={isSubmitting} {...button}>
            {submit}
          </Button>
          {beside}
        </Group>
      </Stack>
    </form>
  );
}
