// The form that changes a name, a user's or an account's.
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

type Props = {
  readonly name: string;
  readonly autoComplete: 'name' | 'off';
  /** Returns what is wrong with a name, or null. */
  readonly check: (name: string) => string | null;
  readonly rename: (values: { readonly name: string }) => Promise<unknown>;
};

export function NameForm({ name, autoComplete, check, rename }: Props) {
  const form = useForm({ initialValues: { name }, validate: { name: check } });
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, rename, { name: 'name' });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="sm">
        <TextInput
          label="Name"
          autoComplete={autoComplete}
          maxLength={100}
          {...form.getInputProps('name')}
        />
        {error && <ErrorNotice error={error} />}
        <Group>
          <Button
            type="submit"
            variant="default"
            loading={isSubmitting}
            disabled={form.values.name.trim() === name}
          >
            Save name
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
