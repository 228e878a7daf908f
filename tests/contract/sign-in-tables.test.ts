// Our migration creates the tables of the sign-in library: everything that it expects must exist.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BetterAuthOptions } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { openDatabase } from '../../src/db/database.ts';
import { libraryOptions, twoFactorSchema } from '../../src/domain/users/library-options.ts';
import { onEachStore } from './stores.ts';

onEachStore((store) => {
  test('the sign-in library finds all its tables and columns', async (t) => {
    const database = openDatabase(await store.createUrl(t));
    t.after(() => database.close());
    await database.migrate();
    const options: BetterAuthOptions = {
      ...libraryOptions({
        baseUrl: 'http://localhost',
        secret: 'x'.repeat(64),
        isSecure: false,
        appName: 'Test',
      }),
      plugins: [twoFactor({ schema: twoFactorSchema })],
      database: { db: database.write, type: store.dialect },
    };
    const warnings: string[] = [];
    const logger = {
      level: 'warn',
      log: (_level: string, message: string) => void warnings.push(message),
    } as const;
    const { toBeCreated, toBeAdded } = await getMigrations({ ...options, logger });
    assert.deepEqual([toBeCreated, toBeAdded], [[], []]);
    assert.deepEqual(
      warnings.filter((warning) => !warning.includes('stays nullable')),
      [],
    );
    // A missing column would be detected.
    const odd = {
      ...options,
      user: { ...options.user, additionalFields: { shoeSize: { type: 'number' } } },
    } as const;
    assert.equal((await getMigrations({ ...odd, logger })).toBeAdded.length, 1);
  });
});
