import type { Command } from 'commander'
import type { OutputOptions } from './output.ts'
import { addCommand, runCommand } from './session.ts'

const REPLACED = `SECRET_KEY is this database's key from now on. What was made with the earlier one no longer works:
  - links in mails that were sent: send invitations again, and have members ask for new links
  - secrets of webhooks and recruiting systems, client secrets of identity providers: make or enter new ones
  - apps that show codes (second factors): members use recovery codes or passkeys, or have their factors reset
  - addresses that were erased: they are not recognized in the list of suppressed addresses or in ERASURE_LOG
`

/** `secret replace`. */
export function addSecretCommands(program: Command): void {
  const secret = program.command('secret').description('manage the secret key')

  addCommand(
    secret,
    'replace',
    'accept a new SECRET_KEY after the previous one was lost; to rotate it, set SECRET_KEY=new,previous instead',
  ).action((options: OutputOptions) =>
    runCommand(options, async () => ({ text: REPLACED, json: { replaced: true } }), { replacesSecretKey: true }),
  )
}
