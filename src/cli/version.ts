import type { Command } from 'commander'
import { release } from '../runtime/version.ts'
import { type OutputOptions, writeOutput } from './output.ts'
import { addCommand } from './session.ts'

/** `version`. It needs no settings and no database. */
export function addVersionCommand(program: Command): void {
  addCommand(program, 'version', 'print the version and the commit').action((options: OutputOptions) => {
    const { version, commit } = release
    writeOutput({ text: `${[version, commit].filter(Boolean).join(' ')}\n`, json: { version, commit: commit ?? null } }, options)
  })
}
