import type { UseFormReturnType } from '@mantine/form';
import { useState, type FormEvent } from 'react';
import type { ApiError } from '../api/api-error.ts';
import { useDraft } from './drafts.ts';
import { showFieldError, type FieldNames } from './form-errors.ts';

/**
 * Submits a Mantine form. An error appears at the field that the gateway names, else in `error`, for
 * an `ErrorNotice`. `fields` maps the API's field names to the form's. The first field with an error
 * gets the focus, because it may be above what a phone shows. What was typed outlives the session,
 * without the fields of `secretNames`: name a secret's field so that it is one.
 *
 *   const sending = useFormSubmit(form, (values) => create.mutateAsync({ body: values }), { name: 'name' });
 *   <SubmitForm sending={sending} submit="Create">
 */
export function useFormSubmit<Values extends Record<string, unknown>, Sent>(
  form: Pick<
    UseFormReturnType<Values, Sent>,
    'onSubmit' | 'setErrors' | 'getValues' | 'setValues' | 'isDirty'
  >,
  send: (values: Sent) => Promise<unknown>,
  fields: FieldNames,
  /** Tells the draft from those of other forms of the page with the same fields. */
  draft = Object.keys(form.getValues()).toSorted().join(' '),
) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isSubmitting, setSubmitting] = useState(false);
  useDraft<Partial<Values>>(
    draft,
    () => (form.isDirty() ? withoutSecrets(form.getValues()) : undefined),
    (typed) => form.setValues(typed),
  );
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    const element = event.currentTarget;
    const submit = async (values: Sent) => {
      setSubmitting(true);
      setError(null);
      try {
        await send(values);
      } catch (thrown) {
        setError(showFieldError(form, thrown, fields));
        focusError(element);
      } finally {
        setSubmitting(false);
      }
    };
    form.onSubmit(
      (values) => void submit(values),
      () => focusError(element),
    )(event);
  };
  return { onSubmit, error, isSubmitting };
}

/** Waits for the next frame, in which the errors are shown. */
function focusError(form: HTMLFormElement): void {
  requestAnimationFrame(() =>
    form
      .querySelector('.mantine-InputWrapper-error')
      ?.parentElement?.querySelector<HTMLElement>('input, textarea')
      ?.focus(),
  );
}

/** `address`: whoever has the address of a Slack webhook can write to its channel. */
const secretNames = /password|secret|code|token|api_?key|headers|address/i;

function withoutSecrets<Values extends object>(values: Values): Partial<Values> {
  const fields = Object.entries(values);
  const harmless = fields.filter(([name]) => !secretNames.test(name));
  return Object.fromEntries(harmless) as Partial<Values>;
}
