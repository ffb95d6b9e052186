import type { Command } from 'commander'
import { type Context, enterOrganization } from '../domain/context.ts'
import { continueErasure } from '../domain/erasure/continue-erasure.ts'
import { eraseAgain, type RepeatedErasure } from '../domain/erasure/erase-again.ts'
import { eraseRestoredOrganizations } from '../domain/erasure/erase-restored-organizations.ts'
import { type Erasure, getErasure } from '../domain/erasure/erasures.ts'
import type { OrganizationLine } from '../domain/erasure/organization-receipts.ts'
import { requestErasure } from '../domain/erasure/request-erasure.ts'
import { requestMemberErasure } from '../domain/erasure/request-member-erasure.ts'
import { findMemberByAddress } from '../domain/members/invite-member.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import { type Output, type OutputOptions, table } from './output.ts'
import { addCommand, runCommand } from './session.ts'

/** `erase <organization> <address>`, with `--member` for a member, and `erase --again`. */
export function addEraseCommand(program: Command): void {
  addCommand(program, 'erase', 'erase a candidate or a member, or repeat erasures after restoring a backup')
    .argument('[organization]', 'id or name')
    .argument('[address]', 'email address of the candidate or member')
    .option('--member', 'erase the member with that address instead of the candidate')
    .option('--revoke-keys', 'also revoke API keys that the member created')
    .option('--again', 'repeat the erasures of ERASURE_LOG that this database lacks')
    .action((organization: string | undefined, address: string | undefined, options: Options) =>
      runCommand(options, async ({ operator }) => {
        if (options.again) return formatRepeated(await eraseRestoredOrganizations(operator), await eraseAgain(operator))
        if (organization === undefined || address === undefined)
          throw new Error('Name the organization and the address, or give --again')
        const ctx: Context = enterOrganization(operator, await findOrganization(operator, organization))
        const { id } = options.member ? await eraseMember(ctx, address, options) : await requestErasure(ctx, { address })
        // Erases in this process. If the service runs, both work on it.
        await continueErasure(operator, { organizationId: ctx.organization.id, erasureId: id })
        return formatReceipt(await getErasure(ctx, id))
      }),
    )
}

type Options = OutputOptions & { again?: boolean; member?: boolean; revokeKeys?: boolean }

async function eraseMember(ctx: Context, address: string, { revokeKeys = false }: Options): Promise<Erasure> {
  const foundMember = await findMemberByAddress(ctx, address)
  if (!foundMember) throw new Error(`${ctx.organization.name} has no member of that address`)
  return requestMemberErasure(ctx, { memberId: foundMember.id, revokesKeys: revokeKeys })
}

function formatReceipt(erasure: Erasure): Output {
  const { id, finishedAt, backupsUntil, counts, ofMember } = erasure
  const erased = Object.entries({ ...ofMember, ...counts }).filter(([, count]) => count > 0)
  const rows = [
    ['receipt', id],
    ['finished', finishedAt?.toISOString() ?? ''],
    ['in backups until', backupsUntil?.toISOString() ?? ''],
    ...erased.map(([kind, count]) => [kind, String(count)]),
  ]
  return { text: table(['WHAT', 'VALUE'], rows), json: erasure }
}

/** Organizations first: erasing one erases its candidates. */
const formatRepeated = (organizations: OrganizationLine[], repeated: RepeatedErasure[]): Output => ({
  text:
    repeated.length + organizations.length === 0
      ? 'Nothing has come back.\n'
      : table(
          ['RECEIPT', 'ORGANIZATION', 'CAME BACK'],
          [
            ...organizations.map(({ id, organizationId }) => [id, organizationId, 'yes, all of it, and is gone again']),
            ...repeated.map(({ id, organizationId, found }) => [id, organizationId, found ? 'yes, and is gone again' : 'no']),
          ],
        ),
  json: [...organizations.map(({ id, organizationId }) => ({ id, organizationId, found: true })), ...repeated],
})
