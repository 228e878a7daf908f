// What is around the pages of those who are not signed in.
import { Outlet } from '@tanstack/react-router';
import { useSession } from '../api/session.ts';
import { Logo } from './logo.tsx';
import classes from './public-shell.module.css';

export function PublicShell() {
  const { features } = useSession();
  return (
    <main className={classes.page}>
      <div className={classes.column}>
        <Logo name={features.service_name} />
        <Outlet />
      </div>
    </main>
  );
}
