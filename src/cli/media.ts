import type { Command } from 'commander'
import { retryFailedRecordings } from '../domain/submissions/media/retry-failed-recordings.ts'
import { EXIT_WRONG_USAGE } from './exit-codes.ts'
import type { OutputOptions } from './output.ts'
import { addCommand, perform } from './session.ts'

/** `media retry`. */
export function addMediaCommands(program: Command): void {
  const media = program.command('media').description('what candidates have recorded')

  const retry = addCommand(media, 'retry', 'join failed recordings again')
    .argument('[id]', 'one failed recording, see the log')
    .option('--all', 'all failed recordings')
  retry.action((id: string | undefined, options: OutputOptions & { all?: true }) => {
    if ((id === undefined) === (options.all === undefined))
      retry.error('error: name one recording, or give --all', { exitCode: EXIT_WRONG_USAGE })
    return perform(options, async ({ operator }) => {
      const count = await retryFailedRecordings(operator, id)
      if (id !== undefined && count === 0) throw new Error(`There is no failed recording ${id}.`)
      return { text: `${count} ${count === 1 ? 'recording' : 'recordings'} queued again.\n`, json: { queued: count } }
    })
  })
}
