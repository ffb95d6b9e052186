import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withErrorCodes } from '../../.ci/error-codes.ts'
import { settingsExample, withSettingsTable } from '../../.ci/settings.ts'
import { errorGuidance } from '../../src/http/errors/error-guidance.ts'
import { readDocument } from '../support/openapi.ts'
import { startServiceForTest } from '../support/service.ts'

// If these fail, run npm run settings.
it('keeps the settings in docs/operating.md equal to those the program reads', async () => {
  const page = await readFile('docs/operating.md', 'utf8')
  expect(page).toContain('| `DATABASE_URL` |')
  expect(withSettingsTable(page)).toBe(page)
})

it('keeps .env.example equal to them too', async () => {
  expect(await readFile('.env.example', 'utf8')).toBe(settingsExample())
})

// If this fails, run npm run error-codes.
it('keeps the error codes in docs/guides/errors.md equal to those the interfaces document, each with a section of its own', async () => {
  const file = await readFile('docs/guides/errors.md', 'utf8')
  expect(withErrorCodes(file)).toBe(file)
  const service = await startServiceForTest()
  const documents = await Promise.all((['v1', 'alternate'] as const).map((name) => readDocument(service, name)))
  const documented = new Set(
    documents.flatMap((document) =>
      [...JSON.stringify(document).matchAll(/"X-Error-Code":.*?"enum":(\[.*?\])/g)].flatMap(
        ([, codes]) => JSON.parse(codes!) as string[],
      ),
    ),
  )
  const explained = Object.entries(errorGuidance).flatMap(([code, guidance]) => (guidance ? [code] : []))
  expect(explained.toSorted()).toEqual([...documented, 'method_not_allowed'].toSorted())
  const page = (await service.http().get('/docs/guides/errors')).text
  expect(explained.filter((code) => !page.includes(`<h3 id="${code}"`))).toEqual([])
})
