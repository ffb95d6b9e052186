import { stat } from 'node:fs/promises'
import { inOneTransaction } from '../db/table-rows.ts'
import { recordAudit } from '../domain/audit/record-audit.ts'
import { enterOrganization, type ServiceContext } from '../domain/context.ts'
import { eraseSinceExport, type RepeatedErasure } from '../domain/erasure/erase-again.ts'
import { readOrganizationLines } from '../domain/erasure/organization-receipts.ts'
import { advanceSequences } from '../domain/events/advance-sequences.ts'
import { folderOf } from '../domain/files/media-keys.ts'
import { caseKey } from '../domain/text/fold-text.ts'
import { deriveId } from '../domain/text/uuid.ts'
import { withImportLock } from '../import/transactions.ts'
import { type CheckedExport, checkExport, readMentionedIds } from './check-export.ts'
import { type ExportSource, openFolder } from './export-source.ts'
import { importMedia } from './import-media.ts'
import type { Destination } from './import-row.ts'
import { importLanguages, importRows, openIdFile } from './import-rows.ts'
import { digestOf, type Manifest, readManifest } from './manifest.ts'
import { TransferError } from './transfer-error.ts'
import { openZip } from './zip-source.ts'

type ImportOptions = {
  /** Name of the organization here; by default its exported name. */
  name?: string | undefined
  onWait?: () => void
  onProgress?: (files: number) => void
}

/**
 * @property repeated erasures since the export; null if there is no erasure log. @property hasNewIds true if an exported id was taken, or the
 * organization was erased here.
 */
export type ImportReport = {
  organization: { id: string; name: string }
  hasNewIds: boolean
  counts: Record<string, number>
  media: Pick<Manifest['media'], 'files' | 'bytes' | 'erased'>
  itemsToRecreate: Manifest['itemsToRecreate']
  repeated: RepeatedErasure[] | null
}

/**
 * Imports an exported organization: all of it or nothing. It is suspended until the operator resumes it, see domain/erasure/moves.ts.
 *
 * @param place folder or ZIP of the export. @throws TransferError if the export is damaged, or has anything that is not taken over; errors of the database and the store.
 */
export async function importOrganization(ctx: ServiceContext, place: string, options: ImportOptions = {}): Promise<ImportReport> {
  await using source = await openExport(place)
  const manifest = await readManifest(source)
  const { name = manifest.organization.name, onWait = () => {} } = options
  return await withImportLock(ctx, onWait, async () => {
    const checked = await checkExport(ctx, source, manifest)
    await requireFreeName(ctx, name)
    const destination = await chooseDestination(ctx, { source, manifest, checked, name })
    const organization = { id: destination.organizationId, name }
    const counts = await writeAll(ctx, { source, manifest, checked, to: destination }, options).catch(async (error) => {
      // Without an answer to the commit the organization may be there.
      if ((await ctx.db.organization.count({ where: { id: destination.organizationId } })) === 0)
        await ctx.deps.media.deletePrefix(folderOf(destination.organizationId))
      throw error
    })
    const { files, bytes, erased } = manifest.media
    return {
      organization,
      hasNewIds: destination.organizationId !== destination.exportedId,
      counts,
      media: { files, bytes, erased },
      itemsToRecreate: manifest.itemsToRecreate,
      repeated: await eraseSinceExport(enterOrganization(ctx, { ...organization, tier: 'standard' }), destination.exportedId),
    }
  })
}

/** Opens the folder or ZIP of an export. @throws TransferError if there is none. */
async function openExport(place: string): Promise<ExportSource> {
  const found = await stat(place).catch((cause: NodeJS.ErrnoException) => {
    throw new TransferError(`${place} can't be opened.`, { cause })
  })
  return found.isDirectory() ? openFolder(place) : openZip(place)
}

async function requireFreeName({ db }: ServiceContext, name: string): Promise<void> {
  if ((await db.organization.count({ where: { nameKey: caseKey(name) } })) > 0)
    throw new TransferError(`There is already an organization named ${name}. To import it under another name: --name`)
}

type Import = { source: ExportSource; manifest: Manifest; checked: CheckedExport }

/** Decides about ids, and prepares what organizations share. Both are harmless if the import fails. */
async function chooseDestination(ctx: ServiceContext, { name, ...work }: Import & { name: string }): Promise<Destination> {
  const { source, manifest, checked } = work
  const exportedId = manifest.organization.id
  const organizationId = await chooseId(ctx, manifest, checked)
  return {
    organizationId,
    exportedId,
    name,
    feedBeginsAt: await advanceSequences(ctx, manifest.positions),
    secretKey: ctx.deps.secretKeys[0]!,
    languageIds: await importLanguages(ctx, work),
    mentionedIds: organizationId === exportedId ? new Set() : await readMentionedIds(source, manifest, checked),
  }
}

/**
 * The exported id, if all exported ids are free, and no organization of that id was erased: `erase --again` would erase it once more. A new id
 * is the same for each attempt, so that media of an import that was killed are replaced by the next one.
 */
async function chooseId(ctx: ServiceContext, manifest: Manifest, { isFree }: CheckedExport): Promise<string> {
  const erasedIds = new Set((await readOrganizationLines(ctx)).map(({ organizationId }) => organizationId))
  const exportedId = manifest.organization.id
  if (isFree && !erasedIds.has(exportedId)) return exportedId
  for (let copy = 0; ; copy++) {
    const id = deriveId(exportedId, `${digestOf(manifest)} ${copy}`)
    if (!erasedIds.has(id) && (await ctx.db.organization.count({ where: { id } })) === 0) return id
  }
}

async function writeAll(
  ctx: ServiceContext,
  work: Import & { to: Destination },
  { onProgress = () => {} }: ImportOptions,
): Promise<Record<string, number>> {
  const { source, checked, manifest, to } = work
  await importMedia(ctx, source, { files: checked.files, to, onProgress })
  await using ids = to.organizationId === to.exportedId ? null : await openIdFile(source.folder, to.organizationId)
  return await inOneTransaction(ctx.db, async (db) => {
    const inside = enterOrganization({ ...ctx, db }, { id: to.organizationId, name: to.name, tier: 'standard' as const })
    const counts = await importRows(inside, work, ids)
    const { deps, actor, organization } = inside
    const row = {
      id: deps.newId(),
      actorKind: actor.kind,
      requestedAt: deps.clock(),
      reason: 'imported',
      exportedId: to.exportedId,
    }
    await inside.db.organizationSuspension.create({ data: { organizationId: organization.id, ...row } })
    await recordAudit(inside, { action: 'imported_organization', details: { from: to.exportedId, until: manifest.exportedAt } })
    return counts
  })
}
