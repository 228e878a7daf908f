// Short notifications in the corner of the screen.
import { notifications } from '@mantine/notifications';
import { toApiError } from '../api/api-error.ts';

/** `showSuccess('Key revoked.')` */
export function showSuccess(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000, withBorder: true });
}

/** Shows an error outside a form: the gateway's message with the request id. */
export function showError(thrown: unknown): void {
  const { message, requestId } = toApiError(thrown);
  const text = requestId ? `${message} (${requestId})` : message;
  notifications.show({
    title: 'Something went wrong',
    message: text,
    color: 'red',
    autoClose: 10_000,
    withBorder: true,
  });
}
