import { Button, Group } from '@mantine/core';

type Props = {
  /** The text of the button that submits the form. */
  readonly submit: string;
  readonly isSubmitting: boolean;
  readonly onClose: () => void;
};

/** The buttons that end a dialog's form. */
export function DialogButtons({ submit, isSubmitting, onClose }: Props) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose} disabled={isSubmitting}>
        Cancel
      </Button>
      <Button type="submit" loading={isSubmitting}>
        {submit}
      </Button>
    </Group>
  );
}
