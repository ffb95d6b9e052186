import { createHash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import path from 'node:path'
import { type Static, Type as T } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { syncFolder } from '../db/checked-copy.ts'
import { MAX_NAME_LENGTH } from '../domain/limits.ts'
import { UUID_PATTERN } from '../domain/text/uuid.ts'
import { checkName } from '../domain/validation/checks.ts'
import { type ExportSource, openFolder, readAll } from './export-source.ts'
import { TransferError } from './transfer-error.ts'

/** Version of the format, see docs/contract/organization-export.md. A release reads this one and all before it. */
export const FORMAT = 1

const Count = T.Integer({ minimum: 0 })
const Sha256 = T.String({ pattern: '^[0-9a-f]{64}$' })
const FileFacts = T.Object({ rows: Count, bytes: Count, sha256: Sha256 })
const Rows = T.Object({
  format: T.Integer({ minimum: 1 }),
  /** Release that wrote it. */
  release: T.String({ maxLength: 100 }),
  exportedAt: T.String({ maxLength: 40 }),
  organization: T.Object({ id: T.String({ pattern: UUID_PATTERN }), name: T.String() }),
  /** New place of an organization that has moved; null: it goes on where it was exported. */
  movedTo: T.Union([T.String({ maxLength: 500 }), T.Null()]),
  /** Milliseconds for which the snapshot was open. */
  snapshotMs: T.Number({ minimum: 0 }),
  /** Ends of the feeds of the installation. */
  positions: T.Object({ events: Count, audit: Count }),
  tables: T.Record(
    T.String({ pattern: '^[a-z_]{1,60}$' }),
    T.Composite([FileFacts, T.Object({ columns: T.Array(T.String({ pattern: '^[a-z_0-9]{1,60}$' }), { maxItems: 200 }) })]),
  ),
  /** Names of omitted items, by table. */
  itemsToRecreate: T.Record(T.String({ pattern: '^[a-z_]{1,60}$' }), T.Array(T.String({ maxLength: 5_000 })), {
    additionalProperties: false,
  }),
})
const Media = T.Object({ list: FileFacts, files: Count, bytes: Count, erased: Count })
const Complete = T.Composite([Rows, T.Object({ media: Media })])

export type FileFacts = Static<typeof FileFacts>
export type TableFacts = FileFacts & { columns: string[] }
export type RowsManifest = Static<typeof Rows>
export type Manifest = Static<typeof Complete>

export const MANIFEST = 'manifest.json'
/** Bytes. */
const LARGEST = 16 * 1024 * 1024
/** Written when the rows are complete, and the media are not. */
const ROWS_MANIFEST = 'rows.json'

export const TABLES_FOLDER = 'tables'
export const tableFile = (table: string): string => `${TABLES_FOLDER}/${table}.jsonl`
export const MEDIA_LIST = 'media.jsonl'
export const MEDIA_FOLDER = 'media'

export const writeRowsManifest = (folder: string, manifest: RowsManifest): Promise<void> => write(folder, ROWS_MANIFEST, manifest)
export const writeManifest = (folder: string, manifest: Manifest): Promise<void> => write(folder, MANIFEST, manifest)

/** @returns null if the export has no such file yet. @throws TransferError for a damaged file, or a file of a newer format. */
export const readRowsManifest = (folder: string): Promise<RowsManifest | null> =>
  readManifestOf(openFolder(folder), ROWS_MANIFEST, Rows)
/** @throws TransferError if the export is not complete, is damaged, or has a newer format. */
export async function readManifest(source: ExportSource): Promise<Manifest> {
  const manifest = await readManifestOf(source, MANIFEST, Complete)
  if (!manifest) throw new TransferError(`The export is incomplete: ${MANIFEST} is missing. Run org export again.`)
  return manifest
}
export const hasManifest = async (folder: string): Promise<boolean> =>
  (await readManifestOf(openFolder(folder), MANIFEST, Complete)) !== null

async function write(folder: string, name: string, manifest: RowsManifest): Promise<void> {
  const draft = path.join(folder, `${name}.draft`)
  await using handle = await open(draft, 'w', 0o600)
  await handle.writeFile(toManifestText(manifest))
  await handle.sync()
  await rename(draft, path.join(folder, name))
  await syncFolder(folder)
}

/** Content of the file of a manifest. */
export const toManifestText = (manifest: RowsManifest): string =>
  `${JSON.stringify({ manifest, sha256: digestOf(manifest) }, null, 2)}\n`

async function readManifestOf<S extends typeof Rows | typeof Complete>(
  source: ExportSource,
  name: string,
  schema: S,
): Promise<Static<S> | null> {
  await using found = await source.find(name)
  if (!found) return null
  const file = found.name
  if (found.bytes > LARGEST) throw new TransferError(`${file} has more than ${LARGEST} bytes.`)
  const { manifest, sha256 } = parse((await readAll(found)).toString('utf8'))
  const { format, release } = (manifest ?? {}) as Partial<Manifest>
  if (typeof format === 'number' && format > FORMAT)
    throw new TransferError(
      `${file} has format ${format}, of release ${String(release)}. This release reads up to format ${FORMAT}.`,
    )
  if (sha256 !== digestOf(manifest) || !Value.Check(schema, manifest))
    throw new TransferError(`${file} is damaged, or was changed.`)
  if (checkName(manifest.organization.name, MAX_NAME_LENGTH))
    throw new TransferError(`${file} has an invalid name of the organization.`)
  return manifest
}

function parse(text: string): { manifest?: unknown; sha256?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {}
  } catch {
    return {}
  }
}

/** SHA-256 in hexadecimal digits. */
export const digestOf = (manifest: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(manifest) ?? '')
    .digest('hex')
