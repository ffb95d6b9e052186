import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { settingsExample, withSettingsTable } from '../../.ci/settings.ts'

it('keeps the settings in the README equal to those the program reads', async () => {
  const readme = await readFile('README.md', 'utf8')
  expect(readme).toContain('| `DATABASE_URL` |')
  expect(withSettingsTable(readme)).toBe(readme)
})

it('keeps .env.example equal to them too', async () => {
  expect(await readFile('.env.example', 'utf8')).toBe(settingsExample())
})
