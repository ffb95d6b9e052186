import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { settingsExample, withSettingsTable } from '../../.ci/settings.ts'

// Where these fail: npm run settings.
it('keeps the settings in docs/operating.md equal to those the program reads', async () => {
  const page = await readFile('docs/operating.md', 'utf8')
  expect(page).toContain('| `DATABASE_URL` |')
  expect(withSettingsTable(page)).toBe(page)
})

it('keeps .env.example equal to them too', async () => {
  expect(await readFile('.env.example', 'utf8')).toBe(settingsExample())
})
