// The form that changes a name, a user's or an account's.
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { SubmitForm } from '../../parts/submit-form.tsx';
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
  const sending = useFormSubmit(form, rename, { name: 'name' });
  return (
    <SubmitForm
      sending={sending}
      submit="Save name"
      button={{ variant: 'default', disabled: form.values.name.trim() === name }}
      gap="sm"
    >
      <TextInput
        label="Name"
        autoComplete={autoComplete}
        maxLength={100}
        {...form.getInputProps('name')}
      />
    </SubmitForm>
  );
}
