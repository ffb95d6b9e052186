import type { Command } from 'commander'
import { enterOrganization } from '../domain/context.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import { allowOtherSignInMethods } from '../domain/single-sign-on/enforcement.ts'
import type { OutputOptions } from './output.ts'
import { addCommand, runCommand } from './session.ts'

/** `sso off`. */
export function addSsoCommands(program: Command): void {
  const sso = program.command('sso').description('manage single sign-on')

  addCommand(sso, 'off', 'allow other sign-in methods if single sign-on fails; keeps its settings')
    .argument('<organization>', 'id or name')
    .action((idOrName: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const { id, name, tier } = await findOrganization(operator, idOrName)
        const isChanged = await allowOtherSignInMethods(enterOrganization(operator, { id, name, tier }))
        const text = isChanged
          ? `Members of ${name} can sign in with their passwords and passkeys again. Its admins are told by mail.\n`
          : `Single sign-on was not the only way into ${name}.\n`
        return { text, json: { organization: id, changed: isChanged } }
      }),
    )
}
