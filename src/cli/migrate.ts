import type { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { startEmbeddedDatabase } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { type OutputOptions, writeOutput } from './output.ts'
import { addCommand, explainUnreachable } from './session.ts'

/** `migrate`. */
export function addMigrateCommand(program: Command): void {
  addCommand(program, 'migrate', 'bring the database up to date; the service does so too when it starts').action(
    async (options: OutputOptions) => {
      const config = loadConfig(process.env)
      const embedded = config.databaseUrl ? undefined : await startEmbeddedDatabase({ dataDir: config.dataDir })
      try {
        const applied = await migrate(config.databaseUrl ?? embedded!.url).catch(explainUnreachable)
        const lines = applied.length > 0 ? applied.map((name) => `applied ${name}\n`).join('') : 'The database is up to date.\n'
        writeOutput({ text: lines, json: { applied } }, options)
      } finally {
        await embedded?.release()
      }
    },
  )
}
