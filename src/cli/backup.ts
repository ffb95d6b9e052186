import path from 'node:path'
import type { Command } from 'commander'
import { createBackup } from '../runtime/backup.ts'
import type { BackupManifest, ExcludedPart } from '../runtime/backup-manifest.ts'
import { loadConfig } from '../runtime/config.ts'
import { restoreBackup } from '../runtime/restore.ts'
import { type Output, type OutputOptions, writeOutput } from './output.ts'
import { addCommand } from './session.ts'

const NOT_BACKED_UP: Record<ExcludedPart, string> = {
  media: 'Not in it: photos and recordings, which MEDIA_URL keeps in a bucket.',
  secret:
    'Not in it: the secret that links are signed with, which is not kept in a file of the service: keep SECRET_KEY yourself.',
}
const NOT_RESTORED: Record<ExcludedPart, string> = {
  media: 'Not in it: photos and recordings. Set MEDIA_URL as it was.',
  secret: 'Not in it: the secret that links are signed with. Set SECRET_KEY as it was, or all links are void.',
}

/** `backup | restore`, for the embedded database with its media and secret. */
export function addBackupCommands(program: Command): void {
  addCommand(program, 'backup', 'back up the embedded database, media, and the secret; the service may be running')
    .argument('<folder>', 'new or empty folder')
    .action(async (folder: string, options: OutputOptions) => {
      const place = path.resolve(folder)
      const manifest = await createBackup(loadConfig(process.env), place)
      writeOutput(formatBackup(`Backed up to ${place}`, manifest, NOT_BACKED_UP, { folder: place }), options)
    })

  addCommand(program, 'restore', 'restore a backup into an empty DATA_DIR')
    .argument('<folder>', 'folder of the backup')
    .action(async (folder: string, options: OutputOptions) => {
      const { manifest, home } = await restoreBackup(loadConfig(process.env), path.resolve(folder))
      writeOutput(formatBackup(`Restored to ${home}`, manifest, NOT_RESTORED, { folder: home }), options)
    })
}

function formatBackup(done: string, manifest: BackupManifest, notes: Record<ExcludedPart, string>, further: object): Output {
  const { files, createdAt, release, postgres, without } = manifest
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const summary = `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, of ${createdAt}, release ${release}, PostgreSQL ${postgres}`
  const text = [`${done}: ${summary}.`, ...without.map((missing) => notes[missing])].map((line) => `${line}\n`).join('')
  return { text, json: { ...further, createdAt, release, postgres, files: files.length, bytes, without } }
}
