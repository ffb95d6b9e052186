import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withErrorCodes } from '../../.ci/error-codes.ts'
import { settingsExample, settingsPage } from '../../.ci/settings.ts'
import { errorGuidance } from '../../src/http/errors/error-guidance.ts'
import { readDocument } from '../support/openapi.ts'
import { startServiceForTest } from '../support/service.ts'

// If these fail, run npm run settings.
it('has the same settings in docs/operating/settings.md as in the code', async () => {
  expect(settingsPage()).toContain('| `DATABASE_URL` |')
  expect(await readFile('docs/operating/settings.md', 'utf8')).toBe(settingsPage())
})

it('has the same settings in .env.example as in the code', async () => {
  expect(await readFile('.env.example', 'utf8')).toBe(settingsExample())
})

// If this fails, run npm run error-codes.
it('has the same error codes in docs/guides/errors.md as the interfaces, each with its own section', async () => {
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
