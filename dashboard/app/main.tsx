// Where the web app begins.
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
import { leave } from '../api/session.ts';
import { nonceOf } from './nonce.ts';
import { cssVariables, theme } from './theme.ts';

const queryClient = createQueryClient(() => {
  const { href, pathname } = router.state.location;
  if (pathname === '/sign-in') return;
  leave(href);
});
const router = createAppRouter(queryClient);

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto" getStyleNonce={nonceOf}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
