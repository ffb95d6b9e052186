import { randomBytes } from 'node:crypto'
import { appendFile, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { unzipSync, zipSync } from 'fflate'
import { expect, it } from 'vitest'
import { enterOrganization } from '../../src/domain/context.ts'
import { fileOf } from '../../src/domain/files/media-keys.ts'
import { createZip, type Zip } from '../../src/files/zip.ts'
import { exportOrganization } from '../../src/transfer/export-organization.ts'
import { exportZipFile } from '../../src/transfer/export-zip-file.ts'
import { importOrganization } from '../../src/transfer/import-organization.ts'
import { runCli } from '../cli/run-cli.ts'
import { createSampleOrganization } from '../support/sample-organization.ts'
import { startServiceForFile } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { readTables } from './read-tables.ts'

const work = await mkdtemp(path.join(tmpdir(), 'zip-'))
const DATA_DIR = await mkdtemp(path.join(tmpdir(), 'data-'))
const [source, target] = [await startServiceForFile({ DATA_DIR }), await startServiceForFile()]
// Without the sweep, which would change rows between two exports.
for (const { db } of [source, target]) await db.$executeRaw`DELETE FROM pgboss.schedule`
const own = await createSampleOrganization(source, 'Packed')
const organization = { id: own.id, name: 'Packed organization', tier: 'standard' as const }
const operator = { ...source.system, actor: { kind: 'operator' as const } }
const operatorThere = { ...target.system, actor: { kind: 'operator' as const } }
const ctx = enterOrganization(operator, organization)
const file = path.join(work, 'packed.zip')
const exported = await runCli(['org', 'export', own.id, file], { DATABASE_URL: source.databaseUrl, DATA_DIR })
const packed = await readFile(file)
const files = unzipSync(packed)

itSlow('is written by the command line, and imported with the same rows and media', async () => {
  expect([exported.code, exported.stderr]).toEqual([0, ''])
  expect(exported.stdout).toContain(`Exported Packed organization to ${file}: `)
  expect(await readdir(work)).toEqual(['packed.zip'])
  const report = await importOrganization(operatorThere, file)
  expect(report).toMatchObject({ organization: { id: own.id }, hasNewIds: false, media: { files: 1, erased: 0 } })
  const [here, there] = [path.join(work, 'here'), path.join(work, 'there')]
  await exportOrganization(ctx, here, { movedTo: null })
  await exportOrganization(enterOrganization(operatorThere, organization), there, { movedTo: null })
  expect(await readTables(there)).toEqual(await readTables(here))
  const { key } = await target.db.asset.findFirstOrThrow({ where: { id: own.picture.id } })
  const { key: original } = await source.db.asset.findFirstOrThrow({ where: { id: own.picture.id } })
  const [copy, medium] = [await target.deps.media.get(fileOf(key)), await source.deps.media.get(fileOf(original))]
  expect(await text(copy!)).toBe(await text(medium!))
})

it('is imported even if another program packed the export folder, and lists new ids in a file next to the ZIP', async () => {
  const place = await mkdtemp(path.join(work, 'other-'))
  const other = path.join(place, 'other.zip')
  const folders = { 'tables/': new Uint8Array(), 'media/': new Uint8Array(), 'rows.json': new Uint8Array(1) }
  await writeFile(other, zipSync({ ...folders, ...files }, { comment: 'packed by another program' }))
  const { hasNewIds, organization: copy } = await importOrganization(operator, other, { name: 'A copy' })
  expect(hasNewIds).toBe(true)
  expect(await readdir(place)).toEqual([`ids-${copy.id}.jsonl`, 'other.zip'])
})

it('overwrites no file, and leaves none when the export fails', async () => {
  await expect(exportZipFile(ctx, file, { movedTo: null })).rejects.toThrow(/packed\.zip exists already\.$/)
  expect(await readFile(file)).toEqual(packed)
  const media = { ...ctx.deps.media, get: () => Promise.reject(new Error('the store is away')) }
  const place = await mkdtemp(path.join(work, 'failing-'))
  const failing = exportZipFile({ ...ctx, deps: { ...ctx.deps, media } }, path.join(place, 'new.zip'), { movedTo: null })
  await expect(failing).rejects.toThrow('the store is away')
  expect(await readdir(place)).toEqual([])
})

/** Packs a ZIP with any contents. */
async function pack(add: (zip: Zip) => Promise<unknown>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const zip = createZip(async (bytes) => void pieces.push(bytes), new Date())
  await add(zip)
  await zip.end()
  return Buffer.concat(pieces)
}
const packWith = (name: string, content = 'x') => pack((zip) => zip.add(name, content))
const zeros = async function* (mebibytes: number) {
  for (let i = 0; i < mebibytes; i++) yield Buffer.alloc(2 ** 20)
}

/** Offsets of fields in a central directory entry. */
const FIELDS = { flags: 8, method: 10, packed: 20, size: 24, offset: 42 }
/** Returns the export with changed numbers in a file's central directory entry. */
async function forgeEntry(name: string, change: Partial<Record<keyof typeof FIELDS, number>>, zip?: Buffer): Promise<Buffer> {
  const bytes = Buffer.from(zip ?? packed)
  const at = bytes.lastIndexOf(name) - 46
  expect(bytes.readUInt32LE(at)).toBe(0x0201_4b50)
  for (const [field, number] of Object.entries(change)) {
    const place = at + FIELDS[field as keyof typeof FIELDS]
    if (field === 'flags' || field === 'method') bytes.writeUInt16LE(number, place)
    else bytes.writeUInt32LE(number, place)
  }
  return bytes
}
const TAGS = 'tables/tags.jsonl'
const change = (at: number, byte: number): Buffer => {
  const bytes = Buffer.from(packed)
  bytes[at] = byte
  return bytes
}
/** Returns the export with a changed field of the ZIP64 end record. @param at offset of the field. */
const forgeEndRecord = (at: number, number: number): Buffer => {
  const bytes = Buffer.from(packed)
  bytes.writeBigUInt64LE(BigInt(number), bytes.length - 22 - 20 - 56 + at)
  return bytes
}

const NO_ZIP = /hostile\.zip is not a ZIP, or is incomplete or damaged\.$/
const NOT_IN_EXPORTS = /in it, which no export has: manifest\.json has to be at the top of the ZIP\.$/
const IMPOSSIBLE = /with a size that is impossible for an export\.$/
/** Forged ZIPs, with the expected error message. */
const REFUSED: [what: string, make: () => Buffer | Promise<Buffer>, sentence: RegExp][] = [
  ['an empty file', () => Buffer.alloc(0), NO_ZIP],
  ['random bytes', () => randomBytes(100_000), NO_ZIP],
  ['a ZIP without its end', () => packed.subarray(0, packed.length - 30), NO_ZIP],
  ['a ZIP without its beginning', () => packed.subarray(10), NO_ZIP],
  ['bytes after the end', () => Buffer.concat([packed, Buffer.from('x')]), NO_ZIP],
  ['fewer files than it says', () => forgeEndRecord(32, Object.keys(files).length + 1), NO_ZIP],
  ['a directory in another place', () => forgeEndRecord(48, 0), NO_ZIP],
  ['a directory beyond the end', () => forgeEndRecord(48, 2 ** 52), NO_ZIP],
  [
    'millions of files',
    () => forgeEndRecord(32, 1_000_001),
    /has more than 1,000,000 files: unpack it, and import the folder\.$/,
  ],
  ['a huge directory', () => forgeEndRecord(40, 2 ** 40), NO_ZIP],
  ['a way out of the folder', () => packWith('tables/../../evil.jsonl'), NOT_IN_EXPORTS],
  ['an absolute path', () => packWith('/etc/cron.d/evil'), NOT_IN_EXPORTS],
  ['a path of Windows', () => packWith('tables\\tags.jsonl'), NOT_IN_EXPORTS],
  ['a NUL in a name', () => packWith('manifest.json\0.jsonl'), NOT_IN_EXPORTS],
  ['a folder around the export', () => packWith('acme/manifest.json'), NOT_IN_EXPORTS],
  ['another spelling', () => packWith('Manifest.json'), NOT_IN_EXPORTS],
  ['a control character', () => packWith('\u001b[2J'), /has "\\u001b\[2J" in it, which no export has/],
  [
    'two files of one name',
    () => pack((zip) => zip.add(TAGS, '').then(() => zip.add(TAGS, 'x'))),
    /has "tables\/tags\.jsonl" twice\.$/,
  ],
  ['an encrypted file', () => forgeEntry(TAGS, { flags: 1 }), /has "tables\/tags\.jsonl" encrypted\.$/],
  ['another compression', () => forgeEntry(TAGS, { method: 14 }), /has "tables\/tags\.jsonl" packed in an unknown way\.$/],
  ['a bomb', () => pack((zip) => zip.addTextStream('manifest.json', zeros(65))), IMPOSSIBLE],
  ['stored bytes that grow', () => forgeEntry('manifest.json', { method: 0 }), IMPOSSIBLE],
  ['a file in place of another', () => forgeEntry(TAGS, { offset: 0 }), /in the place of something else\.$/],
  ['a file in the directory', () => forgeEntry(TAGS, { offset: packed.length - 200 }), /in the place of something else\.$/],
  [
    'a bomb that says it is small',
    async () => forgeEntry('manifest.json', { size: 10 }, await pack((zip) => zip.addTextStream('manifest.json', zeros(65)))),
    /manifest\.json has more bytes than the ZIP says\.$/,
  ],
  ['fewer bytes than it says', () => forgeEntry('manifest.json', { size: 2 ** 20 }), /has fewer bytes than the ZIP says\.$/],
  ['a manifest of 17 MiB', () => packWith('manifest.json', 'x'.repeat(17 * 2 ** 20)), /has more than 16777216 bytes\.$/],
  [
    'another name before the content',
    () => change(packed.indexOf('manifest.json'), 'M'.charCodeAt(0)),
    /manifest\.json differs from the directory of the ZIP\.$/,
  ],
  [
    'damaged content',
    () => change(packed.indexOf('manifest.json') + 'manifest.json'.length, 0xff),
    /hostile\.zip: manifest\.json is damaged\.$/,
  ],
  [
    'no manifest',
    () => pack((zip) => zip.add(TAGS, '')),
    /^The export is incomplete: manifest\.json is missing\. Run org export again\.$/,
  ],
  ['a missing table', () => Buffer.from(zipSync({ ...files, [TAGS]: new Uint8Array() })), /tags\.jsonl does not match/],
]

it.for(REFUSED)('refuses %s, and writes nothing', async ([, make, sentence]) => {
  const before = await source.db.organization.count()
  const place = await mkdtemp(path.join(work, 'hostile-'))
  const hostile = path.join(place, 'hostile.zip')
  await writeFile(hostile, await make())
  await expect(importOrganization(operator, hostile, { name: 'Hostile' })).rejects.toThrow(sentence)
  expect(await source.db.organization.count()).toBe(before)
  expect(await readdir(place)).toEqual(['hostile.zip'])
})

it('refuses a changed media file, a link, and a missing file', async () => {
  const attempt = (place: string) => importOrganization(operator, place, { name: 'Changed' })
  const name = `media/${own.picture.id}`
  const changed = path.join(work, 'changed.zip')
  await writeFile(changed, zipSync({ ...files, [name]: files[name]!.map((byte) => byte ^ 1) }))
  await expect(attempt(changed)).rejects.toThrow(`changed.zip: ${name} does not match the manifest.`)
  const link = path.join(work, 'link.zip')
  await symlink(file, link)
  await expect(attempt(link)).rejects.toThrow(/link\.zip is a link, or can't be opened\.$/)
  await expect(attempt(path.join(work, 'nothing'))).rejects.toThrow(/nothing can't be opened\.$/)
  await appendFile(path.join(work, 'text'), 'Dear')
  await expect(attempt(path.join(work, 'text'))).rejects.toThrow(/text is not a ZIP, or is incomplete or damaged\.$/)
})
