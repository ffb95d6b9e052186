import path from 'node:path'
import type { Command } from 'commander'
import { type Context, enterOrganization } from '../domain/context.ts'
import type { RepeatedErasure } from '../domain/erasure/erase-again.ts'
import { resumeOrganization } from '../domain/erasure/moves.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import { exportOrganization } from '../transfer/export-organization.ts'
import { exportZipFile } from '../transfer/export-zip-file.ts'
import { type ImportReport, importOrganization } from '../transfer/import-organization.ts'
import type { Manifest } from '../transfer/manifest.ts'
import { type Output, type OutputOptions, printable, table } from './output.ts'
import { addCommand, parseName, runCommand } from './session.ts'

/** `org export | import | resume`. */
export function addTransferCommands(org: Command): void {
  addCommand(org, 'export', 'write everything of an organization to a folder or ZIP; repeat it after an interruption')
    .argument('<organization>', 'id or name')
    .argument('<place>', 'new or empty folder, or a new file whose name ends in .zip')
    .option('--zip', 'write one ZIP, whatever its name ends in')
    .option('--move <where>', 'suspend the organization first, because it moves there', parseName)
    .action((organization: string, destination: string, options: OutputOptions & { move?: string; zip?: true }) =>
      runCommand(options, async ({ operator }) => {
        const ctx: Context = enterOrganization(operator, await findOrganization(operator, organization))
        const place = path.resolve(destination)
        const choices = { movedTo: options.move ?? null, ...showProgress('exported') }
        const run = options.zip || place.toLowerCase().endsWith('.zip') ? exportZipFile : exportOrganization
        return formatExport(place, await run(ctx, place, choices))
      }),
    )

  addCommand(org, 'import', 'import an exported organization, which stays suspended until you resume it')
    .argument('<place>', 'folder or ZIP of the export')
    .option('--name <name>', 'name of the organization here', parseName)
    .action((place: string, options: OutputOptions & { name?: string }) =>
      runCommand(options, async ({ operator }) => {
        const onWait = () => void process.stderr.write('Another import is running: waiting until it ends.\n')
        const choices = { name: options.name, onWait, ...showProgress('imported') }
        return formatImport(await importOrganization(operator, path.resolve(place), choices))
      }),
    )

  addCommand(org, 'resume', 'open an imported organization, or one that has not moved after all')
    .argument('<organization>', 'id or name')
    .action((organization: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const { id, name, tier } = await findOrganization(operator, organization)
        const repeated = await resumeOrganization(enterOrganization(operator, { id, name, tier }))
        return { text: `${printable(name)} is open.\n${formatErasures(repeated)}`, json: { organization: id, repeated } }
      }),
    )
}

function showProgress(done: string) {
  if (!process.stderr.isTTY) return {}
  return { onProgress: (files: number) => void process.stderr.write(`\r\x1b[K${files} photos and recordings ${done}`) }
}

function formatExport(place: string, manifest: Manifest): Output {
  const { organization, media, tables, movedTo, snapshotMs, itemsToRecreate } = manifest
  const rows = Object.values(tables).reduce((sum, facts) => sum + facts.rows, 0)
  const text = [
    `Exported ${printable(organization.name)} to ${place}: ${rows} rows, ${media.files} photos and recordings (${formatBytes(media.bytes)}).`,
    `The snapshot was open for ${(snapshotMs / 1_000).toFixed(1)} s.`,
    ...(media.erased > 0 ? [`${media.erased} photos and recordings were erased before they could be exported.`] : []),
    ...(movedTo === null ? [] : [`It is suspended, and says that it has moved to ${printable(movedTo)}.`]),
    'It has personal data, and nothing in it is encrypted.',
  ]
  return {
    text: `${text.join('\n')}\n${formatItems(itemsToRecreate)}`,
    json: {
      folder: place,
      organization,
      movedTo,
      rows,
      media: { files: media.files, bytes: media.bytes, erased: media.erased },
      itemsToRecreate,
    },
  }
}

function formatImport(report: ImportReport): Output {
  const { organization, hasNewIds, counts, media, itemsToRecreate, repeated } = report
  const rows = Object.entries(counts).filter(([, count]) => count > 0)
  const text = [
    `Imported ${printable(organization.name)} (${organization.id}), with ${media.files} photos and recordings (${formatBytes(media.bytes)}).`,
    ...(hasNewIds
      ? [
          'All of its ids are new, because some were taken here or it was erased here: see ids-… in the folder of the export, or beside its ZIP.',
        ]
      : []),
    'It is suspended. Check it, invite its owner (member invite), and open it: org resume',
  ]
  const report_ = table(['TABLE', 'ROWS'], rows)
  return { text: `${text.join('\n')}\n${formatErasures(repeated)}${formatItems(itemsToRecreate)}\n${report_}`, json: report }
}

const formatBytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const formatItems = (names: Manifest['itemsToRecreate']): string =>
  Object.entries(names)
    .map(([kind, list]) => `Create again: ${kind.replaceAll('_', ' ')} (${list.map(printable).join(', ')})\n`)
    .join('')

function formatErasures(repeated: RepeatedErasure[] | null): string {
  if (repeated === null) return 'There is no file at ERASURE_LOG, so erasures since the export were not repeated.\n'
  const erasedAgain = repeated.filter((erasure) => erasure.found)
  return erasedAgain.length === 0 ? '' : `Erased again, because the export was older: ${erasedAgain.length}.\n`
}
