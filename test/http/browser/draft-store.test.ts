import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createDraftStore } from '../../../src/http/browser/draft-store.ts'

const rows = new Map<string, string>()
beforeEach(() => {
  rows.clear()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => rows.get(key) ?? null,
    setItem: (key: string, text: string) => void rows.set(key, text),
    removeItem: (key: string) => void rows.delete(key),
  })
})
afterEach(() => vi.unstubAllGlobals())

it('draft store keeps a newer draft of another tab until the text changes', () => {
  const [one, other] = [createDraftStore<string>('text'), createDraftStore<string>('text')]
  one.write('a')
  other.write('b')
  one.write('a') // written again, as before sending
  one.clear()
  expect(other.read()).toBe('b')
  one.write('ac')
  expect(other.read()).toBe('ac')
})

it('draft store writes a draft again after it was cleared', () => {
  const drafts = createDraftStore<string>('text')
  for (const _time of [1, 2]) {
    drafts.write('a')
    expect(rows.size).toBe(1)
    drafts.clear()
    expect(rows.size).toBe(0)
  }
})

it('draft store reports that the browser refuses to store drafts', () => {
  vi.stubGlobal('localStorage', { setItem: () => expect.unreachable() })
  const drafts = createDraftStore<string>('text')
  expect(drafts.isKept()).toBe(true)
  drafts.write('a')
  expect([drafts.isKept(), drafts.read()]).toEqual([false, null])
})
