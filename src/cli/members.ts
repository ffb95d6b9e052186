import { type Command, Option } from 'commander'
import { isEmailAddress } from '../domain/checking/email-address.ts'
import { enterOrganization } from '../domain/context.ts'
import { DomainError } from '../domain/errors.ts'
import { createResetLink, inviteMember, type LinkToHandOver } from '../domain/members/invite-member.ts'
import { MEMBER_ROLES, type MemberRole } from '../domain/members/members.ts'
import { findOrganization } from '../domain/members/organizations.ts'
import type { Output, OutputOptions } from './output.ts'
import { addCommand, perform } from './session.ts'

/** `member invite | reset`. */
export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('people who sign in to the portal')

  addCommand(member, 'invite', 'print a link by which somebody joins an organization; the member is made if there is none')
    .argument('<organization>', 'id or name')
    .argument('<email>')
    .addOption(new Option('--role <role>').choices(MEMBER_ROLES).default('admin'))
    .option('--reactivate', 'have a member who was deactivated be active again, with this role instead of those they had')
    .action((idOrName: string, email: string, options: OutputOptions & { role: MemberRole; reactivate?: true }) =>
      perform(options, async ({ operator }) => {
        if (!isEmailAddress(email)) throw new Error(`${email} is not an email address.`)
        const organization = await findOrganization(operator, idOrName)
        const invitation = { email, roles: [options.role], mails: false, reactivates: options.reactivate ?? false }
        return showLink(
          await inviteMember(enterOrganization(operator, organization), invitation).catch((error) => explain(error, email)),
        )
      }),
    )

  addCommand(member, 'reset', 'print a link by which somebody sets a new password')
    .argument('<email>')
    .action((email: string, options: OutputOptions) =>
      perform(options, async ({ operator }) => {
        const link = await createResetLink(operator, email, { mails: false })
        if (!link) throw new Error(`Nobody signs in with ${email}. Invite them: npm run cli -- member invite`)
        return showLink(link)
      }),
    )
}

function explain(error: unknown, email: string): never {
  const isDeactivated =
    error instanceof DomainError && error.issues.some((issue) => issue.rule === 'account' && issue.problem === 'deactivated')
  if (!isDeactivated) throw error
  throw new Error(`${email} is deactivated. To have them active again, with this role: add --reactivate`, { cause: error })
}

const showLink = ({ url, expiresAt }: LinkToHandOver): Output => ({
  text: `${url}\n\nGood once, until ${expiresAt.toISOString()}. Whoever opens it sets the password: hand it to nobody else.\n`,
  json: { url, expiresAt },
})
