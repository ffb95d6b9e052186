import { expect } from 'vitest'
import type { Service } from './service.ts'

/** Times of creation and last change of rows, also in the format of the alternate interface. */
export const createdAt = new Date('2026-02-01T10:00:00.123Z')
export const updatedAt = new Date('2026-02-20T16:45:00.000Z')
export const times = { created_at: '2026-02-01T10:00:00.123Z', updated_at: '2026-02-20T16:45:00.000Z' }

/** Reads a row by its id, and expects the list to contain the same row. */
export async function readRow(service: Service, key: string, path: string, id: string) {
  const [one, list] = [await service.alternate(key).get(`${path}/${id}`), await service.alternate(key).get(path)]
  expect([one.status, list.status]).toEqual([200, 200])
  expect(list.body.results.filter((row: { id: string }) => row.id === id)).toEqual([one.body])
  return one
}

/** Expects exactly these fields, in the order of the OpenAPI document. */
export const expectExactly = (body: object, expected: object) => {
  expect(body).toEqual(expected)
  expect(Object.keys(body)).toEqual(Object.keys(expected))
}
