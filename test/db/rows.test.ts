import { expect, it } from 'vitest'
import { insertionOf } from '../../src/db/rows.ts'

it('makes columns of the names of fields, and SQL of nothing else that a row may have for a name', () => {
  expect(insertionOf('invites', { linkVersion: 1 }).text).toBe('INSERT INTO invites ("link_version") VALUES ($1)')
  for (const name of ['id") SELECT 1 --', 'Id', 'a b', ''])
    expect(() => insertionOf('invites', { [name]: 1 })).toThrow('No field has the name')
})
