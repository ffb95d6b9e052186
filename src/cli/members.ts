import { type Command, Option } from 'commander'
import { enterOrganization } from '../domain/context.ts'
import { DomainError, type Problem } from '../domain/errors.ts'
import { createResetLink, findMemberByAddress, inviteMember, type PersonalLink } from '../domain/members/invite-member.ts'
import { MEMBER_ROLES, type MemberRole } from '../domain/members/members.ts'
import { nameOwner } from '../domain/members/owners.ts'
import { resetFactors } from '../domain/members/reset-factors.ts'
import { ASSIGNABLE_PORTAL_ROLES, type AssignablePortalRole } from '../domain/members/role-changes.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import { isEmailAddress } from '../domain/validation/email-address.ts'
import type { Output, OutputOptions } from './output.ts'
import { addCommand, runCommand } from './session.ts'

/** `member invite | name-owner | reset | reset-factors`. */
export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('manage members of the portal')

  addCommand(member, 'invite', 'print a link to join an organization; creates the member if needed')
    .argument('<organization>', 'id or name')
    .argument('<email>')
    .addOption(new Option('--role <role>').choices([...MEMBER_ROLES, ...ASSIGNABLE_PORTAL_ROLES]).default('admin'))
    .option('--reactivate', 'reactivate a deactivated member with this role only')
    .action(
      (
        idOrName: string,
        email: string,
        options: OutputOptions & { role: MemberRole | AssignablePortalRole; reactivate?: true },
      ) =>
        runCommand(options, async ({ operator }) => {
          if (!isEmailAddress(email)) throw new Error(`${email} is not an email address.`)
          const organization = await findOrganization(operator, idOrName)
          const roles = {
            roles: MEMBER_ROLES.filter((role) => role === options.role),
            portalRoles: ASSIGNABLE_PORTAL_ROLES.filter((portalRole) => portalRole === options.role),
          }
          const invitation = { email, ...roles, mails: false, reactivates: options.reactivate ?? false }
          return formatLink(
            await inviteMember(enterOrganization(operator, organization), invitation).catch((error) => explain(error, email)),
          )
        }),
    )

  addCommand(member, 'name-owner', 'make a joined member an owner and admin; other admins are no longer owners by default')
    .argument('<organization>', 'id or name')
    .argument('<email>')
    .action((idOrName: string, email: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const ctx = enterOrganization(operator, await findOrganization(operator, idOrName))
        const foundMember = await findMemberByAddress(ctx, email)
        if (!foundMember) throw new Error(`Nobody is a member there with ${email}. Invite them: npm run cli -- member invite`)
        if (foundMember.status !== 'active' || !foundMember.credentialId)
          throw new Error(`${email} has not joined, or is deactivated.`)
        await nameOwner(ctx, foundMember.id)
        return { text: `${email} is an owner of ${ctx.organization.name}.\n`, json: { email, owner: true } }
      }),
    )

  addCommand(member, 'reset', 'print a link to set a new password')
    .argument('<email>')
    .action((email: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const link = await createResetLink(operator, email, { mails: false })
        if (!link) throw new Error(`Nobody signs in with ${email}. Invite them: npm run cli -- member invite`)
        return formatLink(link)
      }),
    )

  addCommand(member, 'reset-factors', 'remove second factors, password, and sessions, and print a link to set a new password')
    .argument('<email>')
    .action((email: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const link = await resetFactors(operator, email)
        if (!link) throw new Error(`Nobody signs in with ${email}.`)
        return formatLink(link)
      }),
    )
}

function explain(error: unknown, email: string): never {
  const hasProblem = (problem: Problem) =>
    error instanceof DomainError && error.issues.some((issue) => issue.rule === 'account' && issue.problem === problem)
  if (hasProblem('foreignDomain'))
    throw new Error(
      `That organization requires single sign-on, which does not cover ${email}: an owner has to make them a guest, or run: sso off`,
      { cause: error },
    )
  if (!hasProblem('deactivated')) throw error
  throw new Error(`${email} is deactivated. To reactivate them with this role, add --reactivate`, { cause: error })
}

const formatLink = ({ url, expiresAt }: PersonalLink): Output => ({
  text: `${url}\n\nWorks once, until ${expiresAt.toISOString()}. Whoever opens it sets the password: give it to nobody else.\n`,
  json: { url, expiresAt },
})
