import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import type { ApiError } from '../api/api-error.ts';
import { useDraft } from './drafts.ts';
import { showFieldError } from './form-errors.ts';

/**
 * Submits a Mantine form. An error appears at the field that the gateway names, else in `error`, for
 * an `ErrorNotice`. `fields` maps the API's field names to the form's. What was typed outlives the
 * session, without passwords and codes.
 *
 *   const { onSubmit, error, isSubmitting } = useFormSubmit(form, (values) => create.mutateAsync({ body: values }), { name: 'name' });
 *   <form onSubmit={onSubmit} noValidate>
 */
export function useFormSubmit<Values extends Record<string, unknown>, Sent>(
  form: Pick<
    UseFormReturnType<Values, Sent>,
    'onSubmit' | 'setErrors' | 'getValues' | 'setValues' | 'isDirty'
  >,
  send: (values: Sent) => Promise<unknown>,
  fields: Readonly<Record<string, string>>,
) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isSubmitting, setSubmitting] = useState(false);
  const names = Object.keys(form.getValues()).toSorted();
  useDraft<Partial<Values>>(
    names.join(' '),
    () => (form.isDirty() ? withoutSecrets(form.getValues()) : undefined),
    (draft) => form.setValues(draft),
  );
  const submit = async (values: Sent) => {
    setSubmitting(true);
    setError(null);
    try {
      await send(values);
    } catch (thrown) {
      setError(showFieldError(form, thrown, fields));
    } finally {
      setSubmitting(false);
    }
  };
  return { onSubmit: form.onSubmit((values) => void submit(values)), error, isSubmitting };
}

function withoutSecrets<Values extends object>(values: Values): Partial<Values> {
  const fields = Object.entries(values);
  const harmless = fields.filter(([name]) => !/password|secret|code|token/i.test(name));
  return Object.fromEntries(harmless) as Partial<Values>;
}
