// Shows the gateway's validation errors at the fields they name.
import { toApiError, type ApiError } from '../api/api-error.ts';

type Form = { readonly setErrors: (errors: Record<string, string>) => void };

/**
 * Shows an error at the field it names. `fields` maps the API's field names to the form's. Returns
 * null when a field shows the error, else the error for an `ErrorNotice`.
 *
 *   catch (thrown) { setError(showFieldError(form, thrown, { name: 'name', daily_cap_micros: 'dailyCap' })); }
 */
export function showFieldError(
  form: Form,
  thrown: unknown,
  fields: Readonly<Record<string, string>>,
): ApiError | null {
  const error = toApiError(thrown);
  const param = error.param?.split(/[.[]/)[0];
  const field = param === undefined ? undefined : fields[param];
  if (field === undefined) return error;
  form.setErrors({ [field]: error.message });
  return null;
}
