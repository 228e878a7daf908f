// What the gateway says of a form, at the field it is about.
import { toApiError, type ApiError } from '../api/api-error.ts';

type Form = { readonly setErrors: (errors: Record<string, string>) => void };

/**
 * Shows a refusal at the field it names. `fields`: the API's name of each field to the form's. Gives back what belongs to no field, for an
 * `ErrorNotice`; null when it was shown.
 *
 *   catch (thrown) { setError(showFieldError(form, thrown, { name: 'name', daily_cap_micros: 'dailyCap' })); }
 */
export function showFieldError(form: Form, thrown: unknown, fields: Readonly<Record<string, string>>): ApiError | null {
  const error = toApiError(thrown);
  const param = error.param?.split(/[.[]/)[0];
  const field = param === undefined ? undefined : fields[param];
  if (field === undefined) return error;
  form.setErrors({ [field]: error.message });
  return null;
}
