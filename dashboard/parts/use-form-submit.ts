import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import type { ApiError } from '../api/api-error.ts';
import { showFieldError } from './form-errors.ts';

/**
 * Submits a Mantine form. An error appears at the field that the gateway names, else in `error`, for
 * an `ErrorNotice`. `fields` maps the API's field names to the form's.
 *
 *   const { onSubmit, error, isSubmitting } = useFormSubmit(form, (values) => create.mutateAsync({ body: values }), { name: 'name' });
 *   <form onSubmit={onSubmit} noValidate>
 */
export function useFormSubmit<Values, Sent>(
  form: Pick<UseFormReturnType<Values, Sent>, 'onSubmit' | 'setErrors'>,
  send: (values: Sent) => Promise<unknown>,
  fields: Readonly<Record<string, string>>,
) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isSubmitting, setSubmitting] = useState(false);
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
