// Short messages in the corner, for what has no better place.
import { notifications } from '@mantine/notifications';
import { toApiError } from '../api/api-error.ts';

/** `showDone('The key was revoked.')` */
export function showDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000, withBorder: true });
}

/** For what failed outside a form: what the gateway said, with the request id to quote. */
export function showError(thrown: unknown): void {
  const { message, requestId } = toApiError(thrown);
  const text = requestId ? `${message} (${requestId})` : message;
  notifications.show({ title: 'That did not work', message: text, color: 'red', autoClose: 10_000, withBorder: true });
}
