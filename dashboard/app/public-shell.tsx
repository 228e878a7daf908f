// What is around the pages of those who are not signed in.
import { Outlet } from '@tanstack/react-router';
import { useServiceName } from '../api/session.ts';
import { Logo } from './logo.tsx';
import classes from './public-shell.module.css';

export function PublicShell() {
  const name = useServiceName();
  return (
    <main className={classes.page}>
      <div className={classes.column}>
        <Logo name={name} />
        <Outlet />
      </div>
    </main>
  );
}
