// Removes each guard of saved settings in turn: tests must fail.
import { testMutations } from '../../support/mutations.ts';

const changes = 'management/changes/settings.ts';
const saved = (pattern: string) => [`tests/integration/saved-settings.test.ts # ${pattern}`];

testMutations(saved('.'), {
  'a stored credential goes to any address': {
    file: changes,
    guard: 'if (was === undefined || was !== is) continue;',
    without: 'continue;',
  },
  'a change overwrites what was saved meanwhile': {
    file: changes,
    guard:
      'if (version !== undefined && version !== before.version) throw overtaken(before.version);',
    without: '',
  },
  'a field of the file is saved in vain': {
    file: changes,
    guard: 'if (lock)',
    without: 'if (false)',
  },
  'credentials are in the audit log': {
    file: changes,
    guard: 'isCredential(path) ? hidden(String(valueAt(settings, path))) : valueAt(settings, path)',
    without: 'valueAt(settings, path)',
  },
  'unchecked settings are saved': {
    file: changes,
    guard: 'if (isProblem(resolved)) throw invalidRequest(resolved.field, resolved.message);',
    without: '',
  },
  'a key of the environment goes to a saved address': {
    file: 'config/providers.ts',
    guard: 'if (!isAddressSaved || key === null) continue;',
    without: 'continue;',
  },
  'a running request changes its price': {
    file: 'server/charged.ts',
    guard: '{ ...gateway },',
    without: 'gateway,',
  },
  'the file is read again with every change': {
    file: 'threads/live-config.ts',
    guard: ': reader.withSaved(settings);',
    without: ': reader.rereadFile(settings, loadCatalog);',
  },
});
