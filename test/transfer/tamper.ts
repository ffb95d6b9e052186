import { createHash } from 'node:crypto'
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Manifest, tableFile } from '../../src/transfer/manifest.ts'

type Row = Record<string, unknown>
type Changes = { manifest?: (manifest: Manifest) => void; rows?: { [table: string]: (row: Row) => void } }

/** Copies an export, changes the copy, and updates its manifest to match. @returns the folder of the copy. */
export async function tamperWith(folder: string, { manifest: change, rows = {} }: Changes): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), 'tampered-'))
  await cp(folder, copy, { recursive: true })
  const file = path.join(copy, 'manifest.json')
  const { manifest } = JSON.parse(await readFile(file, 'utf8')) as { manifest: Manifest }
  for (const [table, changeRow] of Object.entries(rows)) {
    const lines = (await readFile(path.join(copy, tableFile(table)), 'utf8')).split('\n').filter(Boolean)
    const changed = lines.map((line) => {
      const row = JSON.parse(line) as Row
      changeRow(row)
      return `${JSON.stringify(row)}\n`
    })
    const text = changed.join('')
    await writeFile(path.join(copy, tableFile(table)), text)
    const facts = manifest.tables[table]!
    const columns = Object.keys(JSON.parse(changed[0]!))
    Object.assign(facts, { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex'), columns })
  }
  change?.(manifest)
  const sha256 = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
  await writeFile(file, JSON.stringify({ manifest, sha256 }))
  return copy
}
