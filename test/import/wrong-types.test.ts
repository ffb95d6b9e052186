import { expect, test } from 'vitest'
import { importDocument } from '../../src/import/import-document.ts'
import { ImportError } from '../../src/import/problems.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { startServiceForFile } from '../support/service.ts'
import { dumpDatabase, fullDocument } from './document.ts'

const service = await startServiceForFile()

/** Replaces all parts of a value at a depth. */
function replaceAt(depth: number, value: unknown, replacement: unknown): unknown {
  if (depth === 0) return replacement
  if (typeof value !== 'object' || value === null) return value
  const replace = (item: unknown) => replaceAt(depth - 1, item, replacement)
  return Array.isArray(value)
    ? value.map(replace)
    : Object.fromEntries(Object.entries(value).map(([field, item]) => [field, replace(item)]))
}

const WRONG = [null, true, -1.5, 1e300, '', 'x', '\u0000', 'x'.repeat(100_000), [], [null], [[1]], {}, { name: {} }]

test.each(WRONG.map((wrong) => [JSON.stringify(wrong).slice(0, 20), wrong]))(
  'rejects %s by its path in place of any value at any depth, or accepts it',
  async (_, wrong) => {
    for (let depth = 0; depth <= 7; depth++) {
      const before = await dumpDatabase(service.db)
      const refusal = await importDocument(service.system, readDocument(replaceAt(depth, fullDocument(), wrong))).catch(
        (error) => error,
      )
      if (!(refusal instanceof Error)) continue
      expect(refusal).toBeInstanceOf(ImportError)
      for (const { path, message } of (refusal as ImportError).problems) {
        expect(path).toMatch(/^(document|organizations(\[\d+\](\.\w+)*)*)$/)
        expect(message).toMatch(/^(must|is|stands) /)
      }
      expect(await dumpDatabase(service.db)).toEqual(before)
    }
  },
)
