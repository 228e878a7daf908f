// Shows the stored bodies of a request and its answer, or says why there are none.
import type { ReactNode } from 'react';
import { Alert, Button, Skeleton, Stack, Text } from '@mantine/core';
import type { KeptBody, RequestBodies } from '../../../src/management/contract/requests.ts';
import { useApi } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { AccountLink } from '../../parts/account-link.tsx';
import { byteText } from '../../parts/number-text.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime } from '../../parts/time-ago.tsx';
import { prettyJson } from '../../parts/pretty-json.ts';

type Place = { readonly requestId: string; readonly keyId: string };
type Kept = NonNullable<RequestBodies['kept']>;

type Props = Place & { readonly children: (kept: Kept) => ReactNode };

export function KeptBodies({ requestId, keyId, children }: Props) {
  const query = useApi('GET /accounts/:account/requests/:request/bodies', {
    params: { request: requestId },
  });
  return (
    <QueryView query={query} skeleton={<Skeleton h={240} />}>
      {({ kept, reason }) =>
        kept ? (
          children(kept)
        ) : (
          <Stack gap="sm" align="flex-start">
            <Text size="sm">{reasons[reason ?? 'not-kept']}</Text>
            {reason === 'key-off' && (
              <AccountLink page="keys" filters={{ key: keyId }} size="sm">
                Settings of this key
              </AccountLink>
            )}
            {reason === 'not-kept' && (
              <Button
                variant="default"
                size="xs"
                loading={query.isFetching}
                onClick={() => void query.refetch()}
              >
                Look again
              </Button>
            )}
          </Stack>
        )
      }
    </QueryView>
  );
}

const reasons: Readonly<Record<NonNullable<RequestBodies['reason']>, string>> = {
  disabled: 'The operator of this gateway has switched off the keeping of bodies.',
  'account-off': 'This account stores no answers (Settings), so no bodies are kept.',
  'key-off':
    'The key of this request does not keep bodies. An owner can switch it on for requests to come.',
  expired: 'They were removed: this request is older than its key keeps bodies.',
  erased: 'They were erased together with the stored answers of this account.',
  unreadable:
    'They cannot be decrypted: the secret of the installation that they were stored under is no longer accepted.',
  'not-kept':
    'Nothing is stored. Bodies appear some seconds after the answer, for requests since the key keeps them. When the gateway has no room, it drops them.',
};

type BodyProps = { readonly kept: Kept; readonly part: 'request' | 'answer' };

export function Body({ kept, part }: BodyProps) {
  const body = kept[part];
  if (!body)
    return (
      <Text size="sm">
        {part === 'request'
          ? 'The request was refused before its body was read.'
          : 'The client left before any of the answer was sent.'}
      </Text>
    );
  return (
    <Stack gap="sm">
      {body.cut && <CutNote body={body} />}
      <CodeBlock
        code={prettyJson(body.text) ?? body.text}
        label={part === 'request' ? 'Body of the request' : 'Body of the answer'}
        isHigh
      />
      <Text component="div" size="sm" c="dimmed">
        {byteText(body.bytes)}
        {part === 'answer' && kept.streamed ? ', streamed' : ''} · kept until{' '}
        <DateTime at={kept.expires_at} zoned />
      </Text>
    </Stack>
  );
}

function CutNote({ body }: { readonly body: KeptBody }) {
  const keptBytes = new TextEncoder().encode(body.text).length;
  return (
    <Alert color="orange" variant="light" py="xs">
      Cut at {byteText(keptBytes)} of {byteText(body.bytes)}. The rest was not kept.
    </Alert>
  );
}
