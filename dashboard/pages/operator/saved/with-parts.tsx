// Loads what the forms of saved settings need.
import type { ReactNode } from 'react';
import { useApi } from '../../../api/use-api.ts';
import { QueryView } from '../../../parts/query-view.tsx';
import { useSave, useSaved, type Parts } from './use-saved.ts';

type Props = { readonly children: (parts: Parts) => ReactNode; readonly skeleton?: ReactNode };

export function WithParts({ children, skeleton }: Props) {
  const saved = useSaved();
  const settings = useApi('GET /operator/settings', {});
  const catalogue = useApi('GET /operator/catalogue', {});
  return (
    <QueryView query={catalogue} skeleton={skeleton}>
      {(models) => (
        <QueryView query={settings} skeleton={skeleton}>
          {({ settings: shown }) => (
            <QueryView query={saved} skeleton={skeleton}>
              {(loaded) => (
                <Loaded saved={loaded} settings={shown} catalogue={models}>
                  {children}
                </Loaded>
              )}
            </QueryView>
          )}
        </QueryView>
      )}
    </QueryView>
  );
}

function Loaded({ children, ...parts }: Omit<Parts, 'save'> & Pick<Props, 'children'>) {
  return children({ ...parts, save: useSave(parts.saved) });
}
