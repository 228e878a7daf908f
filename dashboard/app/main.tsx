// Entry point of the web app.
import './global.css';
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import '@mantine/spotlight/styles.layer.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './query-client.ts';
import { createAppRouter } from './router.tsx';
import { onAnswered } from '../api/connection.ts';
import { keepDrafts } from '../api/draft-store.ts';
import { followSignOut, signInAgain } from '../api/session.ts';
import { cssVariables, theme } from './theme.ts';

// The page's Content-Security-Policy allows only styles that carry this response's nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Read by the packages that lock scrolling behind a dialog.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const queryClient = createQueryClient(signInAgain);
const router = createAppRouter(queryClient);
followSignOut();
keepDrafts();
onAnswered(() => {
  void queryClient.invalidateQueries();
  void router.invalidate();
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
