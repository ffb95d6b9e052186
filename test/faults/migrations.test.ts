import { expect, it, onTestFinished } from 'vitest'
import { findPendingMigrations } from '../../src/db/migrate.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { launchService, startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'

it(
  'starts on a database after two processes migrated it at once and one was killed',
  async () => {
    for (let round = 0; round < scaled(2, 20); round++) {
      const url = await createEmptyDatabase()
      const [killed, other] = [1, 2].map(() => launchService({ DATABASE_URL: url }, ['src/cli.ts', 'migrate']))
      const timer = setTimeout(() => killed!.kill('SIGKILL'), 300 + Math.random() * 700)
      onTestFinished(() => clearTimeout(timer))
      await killed!.exited
      expect((await other!.exited).code, other!.output()).toBe(0)
      const service = await startProcess({ DATABASE_URL: url })
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
      expect(await findPendingMigrations(url)).toEqual([])
      service.kill('SIGKILL')
      await service.exited
    }
  },
  scaled(90_000, 400_000),
)
