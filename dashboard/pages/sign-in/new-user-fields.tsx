import { PasswordInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { passwordHint } from './fields.ts';

type Values = { readonly name: string; readonly email: string; readonly password: string };

/** Name, e-mail and password of somebody who becomes a user. `fixedEmail`: of an invitation, which is for that address only. */
export function NewUserFields({ form, fixedEmail }: { readonly form: UseFormReturnType<Values>; readonly fixedEmail?: string }) {
  return (
    <>
      <TextInput label="Your name" autoComplete="name" autoFocus key={form.key('name')} {...form.getInputProps('name')} />
      {fixedEmail === undefined ? (
        <TextInput label="E-mail" type="email" autoComplete="username" key={form.key('email')} {...form.getInputProps('email')} />
      ) : (
        <TextInput label="E-mail" type="email" autoComplete="username" value={fixedEmail} readOnly variant="filled" />
      )}
      <NewPasswordField form={form} />
    </>
  );
}

/** Written once, since it can be looked at. */
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
