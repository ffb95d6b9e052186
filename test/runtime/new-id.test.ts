import { expect, it } from 'vitest'
import { createNewId } from '../../src/runtime/new-id.ts'

it('creates unique UUIDs of version 7 in ascending order', () => {
  const newId = createNewId()
  const ids = Array.from({ length: 10_000 }, newId)
  const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  expect(ids.filter((id) => !pattern.test(id))).toEqual([])
  expect(ids).toEqual([...new Set(ids)].toSorted())
})

it('contains the time of creation', () => {
  const newId = createNewId()
  const before = Date.now()
  const at = Number.parseInt(newId().replace('-', '').slice(0, 12), 16)
  expect(at).toBeGreaterThanOrEqual(before)
  expect(at).toBeLessThanOrEqual(Date.now())
})
