import { PasswordInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { passwordHint } from '../../parts/field-checks.ts';

type Values = { readonly name: string; readonly email: string; readonly password: string };

/** Fields for a new user. `fixedEmail`: the address of an invitation, which cannot be changed. */
export function NewUserFields<Fields extends Values>({
  form,
  fixedEmail,
}: {
  readonly form: UseFormReturnType<Fields>;
  readonly fixedEmail?: string;
}) {
  return (
    <>
      <TextInput
        label="Your name"
        autoComplete="name"
        autoFocus
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      {fixedEmail === undefined ? (
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
      ) : (
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          value={fixedEmail}
          readOnly
          variant="filled"
        />
      )}
      <NewPasswordField form={form} />
    </>
  );
}

/** Has no second field to repeat the password, because the password can be shown. */
export function NewPasswordField<Fields extends { readonly password: string }>({
  form,
}: {
  readonly form: UseFormReturnType<Fields>;
}) {
  return (
    <PasswordInput
      label="Password"
      description={passwordHint}
      autoComplete="new-password"
      key={form.key('password')}
      {...form.getInputProps('password')}
    />
  );
}
