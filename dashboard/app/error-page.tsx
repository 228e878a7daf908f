// Full-page errors.
import { Button, Center, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { toApiError } from '../api/api-error.ts';
import { ErrorNotice } from '../parts/error-notice.tsx';
import { ButtonLink } from '../parts/link.tsx';
import { MissingFileError, mayReload, reload } from '../parts/load-again.ts';
import { PagePending } from './page-pending.tsx';

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
  if (error instanceof MissingFileError) return <MissingFile />;
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

/** After an update, files of the old build are gone. The new build has other file names. */
function MissingFile() {
  const [isReloading] = useState(mayReload);
  useEffect(() => {
    if (isReloading) reload();
  }, [isReloading]);
  if (isReloading) return <PagePending />;
  return (
    <Notice title="This page could not be loaded" text="A file of the dashboard is missing.">
      <Button onClick={() => location.reload()}>Reload</Button>
    </Notice>
  );
}
