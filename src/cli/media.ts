import { type Command, Option } from 'commander'
import { checkMedia, type MediaCheck } from '../domain/submissions/media/check-media.ts'
import { retryFailedRecordings } from '../domain/submissions/media/retry-failed-recordings.ts'
import { EXIT_FAILED, EXIT_WRONG_USAGE } from './exit-codes.ts'
import type { OutputOptions } from './output.ts'
import { addCommand, parseCount, runCommand } from './session.ts'

/** `media check | retry`. */
export function addMediaCommands(program: Command): void {
  const media = program.command('media').description('manage photos and recordings')

  addCommand(media, 'check', 'check that all files are in the store with the right length; changes nothing')
    .addOption(new Option('--sample <n>', 'so many files only, chosen by chance').argParser(parseCount(1_000_000)))
    .action((options: OutputOptions & { sample?: number }) =>
      runCommand(options, async ({ operator }) => {
        const check = await checkMedia(operator, options)
        if (check.missing.length + check.wrong.length > 0) process.exitCode = EXIT_FAILED
        return { text: formatCheck(check), json: check }
      }),
    )

  const retry = addCommand(media, 'retry', 'join failed recordings again')
    .argument('[id]', 'id of a failed recording, from the log')
    .option('--all', 'retry all failed recordings')
  retry.action((id: string | undefined, options: OutputOptions & { all?: true }) => {
    if ((id === undefined) === (options.all === undefined))
      retry.error('error: name one recording, or give --all', { exitCode: EXIT_WRONG_USAGE })
    return runCommand(options, async ({ operator }) => {
      const count = await retryFailedRecordings(operator, id)
      if (id !== undefined && count === 0) throw new Error(`There is no failed recording ${id}.`)
      return { text: `${count} ${count === 1 ? 'recording' : 'recordings'} queued again.\n`, json: { queued: count } }
    })
  })
}

function formatCheck({ files, parts, bytes, missing, wrong, strays }: MediaCheck): string {
  const missingLines = missing.map(({ key, expected }) => `missing: ${key}, ${expected} bytes`)
  const wrongLines = wrong.map(({ key, expected, found }) => `of another length: ${key}, ${found} bytes of ${expected}`)
  const strayLines = strays ? [`${strays.files} files of ${strays.bytes} bytes that no row tells of`] : []
  const checkedText = `${files} files and ${parts} parts looked for, ${(bytes / 1e6).toFixed(1)} MB: ${missing.length} missing, ${wrong.length} of another length`
  return [...missingLines, ...wrongLines, checkedText, ...strayLines].map((line) => `${line}\n`).join('')
}
