import type { Command } from 'commander'
import { type BackupFacts, backUp, restore } from '../runtime/backup.ts'
import { type Config, loadConfig } from '../runtime/config.ts'
import { type OutputOptions, writeOutput } from './output.ts'
import { addCommand } from './session.ts'

/** `backup` and `restore`, of the embedded database. */
export function addBackupCommands(program: Command): void {
  const act =
    (work: (config: Config, folder: string) => Promise<BackupFacts>, done: (folder: string) => string, without: string) =>
    async (folder: string, options: OutputOptions) => {
      const facts = await work(loadConfig(process.env), folder)
      writeOutput(
        { text: `${done(folder)}: ${describe(facts)}.\n${absent(facts, without)}`, json: { folder, ...facts } },
        options,
      )
    }
  addCommand(
    program,
    'backup <folder>',
    'back up the embedded database, its media and its secret, while the service runs or not',
  ).action(act(backUp, (folder) => `Backed up to ${folder}`, 'is not in the backup: keep it apart'))
  addCommand(program, 'restore <folder>', 'restore a backup into an empty DATA_DIR').action(
    act(restore, (folder) => `Restored from ${folder}`, 'was not in the backup: the service needs it as it was'),
  )
}

const describe = ({ databaseBytes, mediaFiles, mediaBytes, hasSecret, hasMedia }: BackupFacts): string =>
  [
    `the database (${megabytes(databaseBytes)})`,
    ...(hasMedia ? [`${mediaFiles} files of photos and recordings (${megabytes(mediaBytes)})`] : []),
    ...(hasSecret ? ['the secret'] : []),
  ].join(', ')

const absent = ({ hasSecret, hasMedia }: BackupFacts, what: string): string =>
  [...(hasSecret ? [] : ['SECRET_KEY']), ...(hasMedia ? [] : ['What MEDIA_URL names'])]
    .map((name) => `${name} ${what}.\n`)
    .join('')

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
