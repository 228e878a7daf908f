// Every route of the web app. Pages load on demand; each exports `Page`.
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
  retainSearchParams,
  type AnyRoute,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sessionQuery, useSession } from '../api/session.ts';
import { ErrorPage, NotFoundPage } from './error-page.tsx';
import { AccountLayout, PublicLayout, Root } from './layouts.tsx';
import { PagePending } from './page-pending.tsx';
import { Shell } from './shell.tsx';
import { loadAgain } from '../parts/load-again.ts';
import { parseSearch, writeSearch, type Search } from '../parts/url-state.ts';

type Context = { readonly queryClient: QueryClient };

const root = createRootRouteWithContext<Context>()({
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
  search: { middlewares: [retainSearchParams(['account', 'mode'])] },
  component: Root,
});

const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  beforeLoad: async ({ context, location }) => {
    const { user } = await context.queryClient.ensureQueryData(sessionQuery);
    if (!user)
      throw redirect({
        to: '/sign-in',
        search: { next: location.href === '/' ? undefined : location.href },
        replace: true,
      });
    return { user };
  },
  component: Shell,
});

const account = createRoute({ getParentRoute: () => app, id: 'account', component: AccountLayout });

const operator = createRoute({
  getParentRoute: () => app,
  path: '/operator',
  beforeLoad: ({ context }) => {
    if (!context.user.is_operator) throw notFound();
  },
});

const accountChildren = [
  page(account, '/', () => import('../pages/overview/page.tsx')),
  page(account, '/keys', () => import('../pages/keys/page.tsx')),
  page(account, '/requests', () => import('../pages/requests/page.tsx')),
  page(account, '/batches', () => import('../pages/batches/page.tsx')),
  page(account, '/analytics', () => import('../pages/analytics/page.tsx')),
  page(account, '/models', () => import('../pages/models/page.tsx')),
  page(account, '/playground', () => import('../pages/playground/page.tsx')),
  page(account, '/billing', () => import('../pages/billing/page.tsx')),
  page(account, '/alerts', () => import('../pages/alerts/page.tsx')),
] as const;

const settings = page(app, '/settings', () => import('../pages/settings/page.tsx'));

const operatorChildren = [
  page(operator, '/', () => import('../pages/operator/home/page.tsx')),
  page(operator, '/accounts', () => import('../pages/operator/accounts/page.tsx')),
  page(operator, '/accounts/$accountId', () => import('../pages/operator/account/page.tsx')),
  page(operator, '/keys', () => import('../pages/operator/keys/page.tsx')),
  page(operator, '/admin-keys', () => import('../pages/operator/admin-keys/page.tsx')),
  page(operator, '/users', () => import('../pages/operator/users/page.tsx')),
  page(operator, '/payments', () => import('../pages/operator/payments/page.tsx')),
  page(operator, '/providers', () => import('../pages/operator/providers/page.tsx')),
  page(operator, '/catalogue', () => import('../pages/operator/catalogue/page.tsx')),
  page(operator, '/alerts', () => import('../pages/operator/alerts/page.tsx')),
  page(operator, '/settings', () => import('../pages/operator/settings/page.tsx')),
  page(operator, '/audit', () => import('../pages/operator/audit/page.tsx')),
] as const;

const visitor = createRoute({
  getParentRoute: () => root,
  id: 'visitor',
  beforeLoad: ({ context }) =>
    context.queryClient.ensureQueryData(sessionQuery).then(() => undefined),
  component: PublicLayout,
});

const signInChildren = [
  page(visitor, '/sign-in', () => import('../pages/sign-in/page.tsx')),
  page(visitor, '/first-run', () => import('../pages/sign-in/first-run.tsx')),
  page(visitor, '/sign-up', () => import('../pages/sign-in/sign-up.tsx')),
  page(visitor, '/invitation', () => import('../pages/sign-in/invitation.tsx')),
  page(visitor, '/forgot-password', () => import('../pages/sign-in/forgot-password.tsx')),
  page(visitor, '/reset-password', () => import('../pages/sign-in/reset-password.tsx')),
  page(visitor, '/device', () => import('../pages/sign-in/device.tsx')),
  page(visitor, '/verify-email', () => import('../pages/sign-in/verify-email.tsx')),
] as const;

/** A route whose file loads when the user opens the page, or is about to. */
function page<Parent extends AnyRoute, const Path extends string>(
  parent: Parent,
  path: Path,
  load: () => Promise<{ readonly Page: () => ReactNode }>,
) {
  return createRoute({
    getParentRoute: () => parent,
    path,
    component: lazyRouteComponent(loadAgain(load), 'Page'),
  });
}

/** An address that no page has, in the frame of the user or of a visitor. */
const unknown = createRoute({
  getParentRoute: () => root,
  path: '$',
  beforeLoad: ({ context }) =>
    context.queryClient.ensureQueryData(sessionQuery).then(() => undefined),
  component: function Unknown() {
    const Frame = useSession().user ? Shell : PublicLayout;
    return (
      <Frame>
        <NotFoundPage />
      </Frame>
    );
  },
});

const routeTree = root.addChildren([
  app.addChildren([
    account.addChildren(accountChildren),
    settings,
    operator.addChildren(operatorChildren),
  ]),
  visitor.addChildren(signInChildren),
  unknown,
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: PagePending,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
