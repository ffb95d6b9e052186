import type { Command } from 'commander'
import type { OutputOptions } from './output.ts'
import { addCommand, runCommand } from './session.ts'

/** `migrate`. */
export function addMigrateCommand(program: Command): void {
  addCommand(program, 'migrate', 'apply pending database migrations, as the service does when it starts').action(
    (options: OutputOptions) =>
      runCommand(
        options,
        async ({ migrated: applied }) => {
          const lines = applied.length > 0 ? applied.map((name) => `applied ${name}\n`).join('') : 'The database is up to date.\n'
          return { text: lines, json: { applied } }
        },
        { migrates: true },
      ),
  )
}
