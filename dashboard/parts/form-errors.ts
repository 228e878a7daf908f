// Shows the gateway's validation errors at the fields they name.
import { toApiError, type ApiError } from '../api/api-error.ts';

type Form = { readonly setErrors: (errors: Record<string, string>) => void };

/** The form's field for the API's: by the first name of its path, or by the whole path. */
export type FieldNames = Readonly<Record<string, string>> | ((param: string) => string | undefined);

/**
 * Shows an error at the field it names. `fields` maps the API's field names to the form's. Returns
 * null when a field shows the error, else the error for an `ErrorNotice`.
 *
 *   catch (thrown) { setError(showFieldError(form, thrown, { name: 'name', daily_cap_micros: 'dailyCap' })); }
 */
export function showFieldError(form: Form, thrown: unknown, fields: FieldNames): ApiError | null {
  const error = toApiError(thrown);
  const { param } = error;
  if (param === null) return error;
  const field = typeof fields === 'function' ? fields(param) : fields[param.split(/[.[]/)[0]!];
  if (field === undefined) return error;
  form.setErrors({ [field]: error.message });
  return null;
}
