import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import type { Release } from '../domain/context.ts'

export const { version } = manifest

export const release: Release = {
  version,
  commit: process.env.SOURCE_COMMIT || readCommit(path.join(import.meta.dirname, '../..')),
}

/** Reads the commit that a clone has checked out. Undefined for an unpacked archive and for a linked worktree. */
export function readCommit(folder: string): string | undefined {
  const read = (name: string): string | undefined => {
    const file = path.join(folder, '.git', name)
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  }
  const head = read('HEAD')
  if (!head?.startsWith('ref: ')) return head
  const reference = head.slice('ref: '.length)
  const packed = () =>
    read('packed-refs')
      ?.split('\n')
      .find((line) => line.endsWith(` ${reference}`))
  return read(reference) ?? packed()?.split(' ')[0]
}
