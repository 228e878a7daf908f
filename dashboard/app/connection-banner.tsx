import { Button, Loader } from '@mantine/core';
import { useConnection } from '../api/connection.ts';
import classes from './connection-banner.module.css';

/** Tells that the gateway does not answer, or that it has a newer version of the app. */
export function ConnectionBanner() {
  const connection = useConnection();
  return (
    <div role="status" className={classes.place}>
      {connection === 'lost' && (
        <div className={classes.banner}>
          <Loader size={14} color="currentColor" aria-hidden />
          The gateway cannot be reached. Trying again…
        </div>
      )}
      {connection === 'updated' && (
        <div className={classes.banner}>
          The dashboard was updated.
          <Button size="compact-sm" variant="default" onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      )}
    </div>
  );
}
