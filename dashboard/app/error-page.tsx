// Full-page errors.
import { Button, Center, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { toApiError } from '../api/api-error.ts';
import { ErrorNotice } from '../parts/error-notice.tsx';
import { ButtonLink } from '../parts/link.tsx';

/** The router's error boundary. */
export function ErrorPage({
  error,
  reset,
}: {
  readonly error: unknown;
  readonly reset: () => void;
}) {
  const router = useRouter();
  useDocumentTitle('Something went wrong');
  const retry = () => {
    reset();
    void router.invalidate();
  };
  // After an update, files of the old build are gone. The new build has other file names.
  if (isMissingFile(error)) {
    return (
      <Notice
        title="A new version is available"
        text="The dashboard was updated while this page was open."
      >
        <Button onClick={() => location.reload()}>Reload</Button>
      </Notice>
    );
  }
  return (
    <Center p="xl">
      <Stack w="100%" maw={560}>
        <Title order={1}>This page could not be loaded</Title>
        <ErrorNotice error={toApiError(error)} onRetry={retry} />
      </Stack>
    </Center>
  );
}

export function NotFoundPage() {
  useDocumentTitle('Page not found');
  return (
    <Notice title="Page not found" text="Check the address, or start from the overview.">
      <ButtonLink to="/">Go to the overview</ButtonLink>
    </Notice>
  );
}

type NoticeProps = {
  readonly title: string;
  readonly text: string;
  readonly children: React.ReactNode;
};

function Notice({ title, text, children }: NoticeProps) {
  return (
    <Center mih="50vh" p="xl">
      <Stack align="center" gap="sm">
        <Title order={1}>{title}</Title>
        <Text c="dimmed" ta="center">
          {text}
        </Text>
        <Group mt="sm">{children}</Group>
      </Stack>
    </Center>
  );
}

function isMissingFile(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    /dynamically imported module|importing a module script failed/i.test(error.message)
  );
}
