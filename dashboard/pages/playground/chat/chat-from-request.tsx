// A chat that begins with a request of the history. The browser keeps none of it: the gateway removes
// kept bodies after some days.
import { Alert, Code, Skeleton, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { RequestBodies } from '../../../../src/management/contract/requests.ts';
import { useIsAtLeast } from '../../../api/account.ts';
import { readBody } from '../../../api/chat-formats/read-body.ts';
import { parseObject } from '../../../api/chat-formats/fields.ts';
import type { ChatFormat } from '../../../api/chat-formats/types.ts';
import { useApi } from '../../../api/use-api.ts';
import { AppLink } from '../../../parts/link.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { beginningOf, fieldsLeftOut, type Beginning } from './from-request.ts';

type Props = {
  readonly request: string;
  readonly format: ChatFormat;
  /** Shows the chat; null: only the model is known. */
  readonly children: (beginning: Beginning | null) => ReactNode;
};

export function ChatFromRequest({ request, format: begun, children }: Props) {
  // The reader may go on in another format.
  const [format] = useState(begun);
  const mayRead = useIsAtLeast('admin');
  const bodies = useApi(
    'GET /accounts/:account/requests/:request/bodies',
    { params: { request } },
    { enabled: mayRead },
  );
  const show = (kept: RequestBodies['kept']) => {
    const body = kept?.request && parseObject(kept.request.text);
    const leftOut = body ? fieldsLeftOut(body, format) : [];
    return (
      <>
        <Alert mb="md" py="xs">
          <Text size="sm">
            {body ? 'Filled' : 'Only the model is taken over'} from request <Code>{request}</Code>
            {body ? '.' : `: ${missingText(mayRead, kept)}.`}
            {leftOut.length > 0 && ` Not taken over: ${leftOut.join(', ')}.`} This conversation is
            gone when you leave the page.{' '}
            <AppLink
              to="/playground"
              search={({ account, mode }) => ({ account, mode })}
              inherit
              underline="always"
            >
              Back to your own
            </AppLink>
          </Text>
        </Alert>
        {children(body ? beginningOf(readBody(format, body), format) : null)}
      </>
    );
  };
  if (!mayRead) return show(null);
  return (
    <QueryView query={bodies} skeleton={<Skeleton h={520} radius="lg" />}>
      {({ kept }) => show(kept)}
    </QueryView>
  );
}

function missingText(mayRead: boolean, kept: RequestBodies['kept']): string {
  if (!mayRead) return 'only owners and admins may read bodies';
  return kept?.request ? 'its kept body is no whole JSON object' : 'no body of it is kept';
}
