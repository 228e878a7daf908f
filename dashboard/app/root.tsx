// What is around every page. Dialogs stand within the router, so that what they show may link and call.
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { Outlet } from '@tanstack/react-router';

export function Root() {
  return (
    <ModalsProvider>
      <Notifications position="bottom-right" containerWidth={380} />
      <Outlet />
    </ModalsProvider>
  );
}
