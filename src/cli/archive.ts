import { open, rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { type Context, enterOrganization } from '../domain/context.ts'
import { normalizeAddress } from '../domain/erasure/request-erasure.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import type { OutputOptions } from './output.ts'
import { addCommand, runCommand } from './session.ts'

/** `archive <organization> <address> <file>`. */
export function addArchiveCommand(program: Command): void {
  addCommand(program, 'archive', 'write all stored data of a candidate to a ZIP file')
    .argument('<organization>', 'id or name')
    .argument('<address>', 'email address of the candidate')
    .argument('<file>', 'new file to write')
    .action((organization: string, address: string, file: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const ctx: Context = enterOrganization(operator, await findOrganization(operator, organization))
        const bytes = await writeArchiveFile(ctx, normalizeAddress(address), file)
        return { text: `${file}: ${bytes} bytes\n`, json: { file, bytes } }
      }),
    )
}

/** Deletes the file if writing fails. @throws Error if the file exists. */
async function writeArchiveFile(ctx: Context, address: string, file: string): Promise<number> {
  const handle = await open(file, 'wx', 0o600)
  let bytes = 0
  try {
    await ctx.deps.writeArchive(ctx, { address }, async (piece) => {
      await handle.writeFile(piece) // appends to the previous pieces
      bytes += piece.length
    })
    await handle.sync()
  } catch (error) {
    await rm(file, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  return bytes
}
