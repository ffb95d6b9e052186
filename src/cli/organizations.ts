import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { enterOrganization, type Tier } from '../domain/context.ts'
import { liftSuspension, suspendOrganization } from '../domain/erasure/suspension.ts'
import { changeOrganizationSecurity } from '../domain/organization/organization-security.ts'
import {
  createOrganization,
  findOrganization,
  listOrganizations,
  type Organization,
  setMailsPerDay,
  setTier,
  TIERS,
} from '../domain/organization/organizations.ts'
import { type Output, type OutputOptions, table } from './output.ts'
import { addCommand, parseName, runCommand } from './session.ts'
import { addTransferCommands } from './transfer.ts'

/** `org create | list | set-tier | set-mail-limit | reset-networks | erase | cancel-erasure`, and those of transfer.ts. */
export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('manage organizations')
  addTransferCommands(org)

  addCommand(org, 'create', 'create an organization')
    .argument('<name>', 'unique, ignoring case', parseName)
    .addOption(new Option('--tier <tier>', 'decides the rate limit').choices(TIERS).default('standard'))
    .action((name: string, options: OutputOptions & { tier: Tier }) =>
      runCommand(options, async ({ operator }) =>
        formatOrganization(await createOrganization(operator, { name, tier: options.tier })),
      ),
    )

  addCommand(org, 'list', 'list all organizations').action((options: OutputOptions) =>
    runCommand(options, async ({ operator }) => {
      const organizations = await listOrganizations(operator)
      return { text: toTable(organizations), json: organizations.map(toJson) }
    }),
  )

  addCommand(org, 'set-tier', "set an organization's tier")
    .argument('<organization>', 'id or name')
    .addArgument(new Argument('<tier>').choices(TIERS))
    .action((idOrName: string, tier: Tier, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const { id } = await findOrganization(operator, idOrName)
        return formatOrganization(await setTier(operator, id, tier))
      }),
    )

  addCommand(org, 'set-mail-limit', "set an organization's limit of mails to candidates within 24 hours")
    .argument('<organization>', 'id or name')
    .argument('<mails>', 'number of mails; 0: no limit; default: MAILS_PER_ORGANIZATION', parseMails)
    .action((idOrName: string, mails: number | 'default', options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const { id } = await findOrganization(operator, idOrName)
        const organization = await setMailsPerDay(operator, id, mails === 'default' ? null : mails)
        return {
          text: `${organization.name} may send its candidates ${formatLimit(mails)}. Waiting mails are checked against it now.\n`,
          json: toJson(organization),
        }
      }),
    )

  addCommand(org, 'reset-networks', 'allow members of a locked-out organization to sign in from any network')
    .argument('<organization>', 'id or name')
    .action((idOrName: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const { id, name, tier } = await findOrganization(operator, idOrName)
        await changeOrganizationSecurity(enterOrganization(operator, { id, name, tier }), { networks: [] })
        return { text: `${name} can be opened from any network. Its admins are told by mail.\n`, json: { organization: id } }
      }),
    )

  addCommand(org, 'erase', 'suspend an organization, and erase it after two weeks')
    .argument('<organization>', 'id or name')
    .argument('<name>', 'its name, to confirm')
    .action((idOrName: string, name: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const { id, name: current, tier } = await findOrganization(operator, idOrName)
        const suspension = await suspendOrganization(enterOrganization(operator, { id, name: current, tier }), { name })
        return {
          text: `${current} is suspended, and is erased on ${suspension.erasesAt.toISOString()}. Its owners are told by mail.\n`,
          json: { organization: id, ...suspension },
        }
      }),
    )

  addCommand(org, 'cancel-erasure', 'cancel the erasure of an organization')
    .argument('<organization>', 'id or name')
    .action((idOrName: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const { id, name, tier } = await findOrganization(operator, idOrName)
        const liftedSuspension = await liftSuspension(enterOrganization(operator, { id, name, tier }))
        const text = liftedSuspension
          ? `${name} is kept. Its owners are told by mail.\n`
          : `${name} is not suspended, or is being erased already.\n`
        return { text, json: { organization: id, kept: liftedSuspension } }
      }),
    )
}

function parseMails(text: string): number | 'default' {
  if (text === 'default') return text
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number, or the word default.')
  return Number(text)
}

function formatLimit(mails: number | 'default'): string {
  if (mails === 'default') return 'as many mails a day as MAILS_PER_ORGANIZATION says'
  return mails === 0 ? 'any number of mails' : `${mails} mails a day`
}

const formatOrganization = (organization: Organization): Output => ({
  text: toTable([organization]),
  json: toJson(organization),
})

/** Omits the first position of the feed, which only the service uses. */
const toJson = ({ feedBeginsAt: _, ...organization }: Organization) => organization

const toTable = (organizations: Organization[]): string =>
  table(
    ['ID', 'NAME', 'TIER', 'CREATED'],
    organizations.map(({ id, name, tier, createdAt }) => [id, name, tier, createdAt.toISOString()]),
  )
