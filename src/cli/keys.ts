import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type ApiKeySummary,
  changeApiKey,
  createApiKey,
  type KeyChange,
  listApiKeys,
  revokeApiKey,
} from '../domain/api-keys/api-keys.ts'
import { KEY_SCOPES, type KeyScope } from '../domain/authorization/permissions.ts'
import { KEY_DAYS, KEY_REQUESTS } from '../domain/limits.ts'
import { readNetwork } from '../domain/networks/ip-networks.ts'
import { findMemberId, findOrganization } from '../domain/organization/organizations.ts'
import { isUuid } from '../domain/text/uuid.ts'
import { daysAfter } from '../domain/time/days.ts'
import { type OutputOptions, table } from './output.ts'
import { addCommand, parseCount, parseName, parseTime, runCommand } from './session.ts'

type KeyChangeOptions = OutputOptions & {
  manage?: boolean
  limit?: number | false
  scopes?: KeyScope[] | false
  networks?: string[] | false
}
type NewKeyOptions = OutputOptions & {
  test?: true
  scopes?: KeyScope[]
  expiresInDays?: number
  expiresAt?: Date
  createdBy?: string
}

/** `key create | list | change | revoke`. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('manage API keys')

  addCommand(key, 'create', 'create an API key, which is shown only once')
    .argument('<organization>', 'id or name')
    .argument('<name>', 'unique within the organization', parseName)
    .option('--test', 'create a test key: mails of its invites are captured')
    .addOption(new Option('--scopes <scopes...>', 'it may do this alone').choices(KEY_SCOPES))
    .addOption(new Option('--expires-in-days <days>').argParser(parseCount(KEY_DAYS.maximum)).conflicts('expiresAt'))
    .addOption(new Option('--expires-at <time>', 'ISO 8601').argParser(parseTime))
    .option('--created-by <member>', 'id or email address of the member who owns the key')
    .action(createKey)

  addCommand(key, 'list', "list an organization's API keys")
    .argument('<organization>', 'id or name')
    .action((idOrName: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const keys = await listApiKeys(operator, (await findOrganization(operator, idOrName)).id)
        return { text: toTable(keys, operator.deps.clock()), json: keys.map(toJson) }
      }),
    )

  addCommand(key, 'change', "change an API key's permissions and limits")
    .argument('<keyId>', 'see: key list')
    .option('--manage', 'allow changes of assessments, questions, and members, and grading')
    .option('--no-manage', 'disallow them')
    .addOption(
      new Option('--limit <requests>', 'a minute, of those that the organization has').argParser(
        parseCount(KEY_REQUESTS.maximum),
      ),
    )
    .option('--no-limit', "remove the key's own rate limit")
    .addOption(new Option('--scopes <scopes...>', 'it may do this alone').choices(KEY_SCOPES))
    .option('--no-scopes', 'allow all operations')
    .option('--networks <networks...>', 'allowed addresses and networks (CIDR)', collectNetworks)
    .option('--no-networks', 'allow any network')
    .action(changeKey)

  addCommand(key, 'revoke', 'revoke an API key')
    .argument('<keyId>', 'see: key list')
    .action((id: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        if (!isUuid(id)) throw new Error(`There is no key ${id}.`)
        const apiKey = await revokeApiKey(operator, id)
        return { text: toTable([apiKey], operator.deps.clock()), json: toJson(apiKey) }
      }),
    )
}

const createKey = (idOrName: string, name: string, options: NewKeyOptions): Promise<void> =>
  runCommand(options, async ({ operator }) => {
    const { test, scopes = [], expiresInDays, expiresAt, createdBy } = options
    const organization = await findOrganization(operator, idOrName)
    const { key, apiKey } = await createApiKey(operator, {
      organizationId: organization.id,
      name,
      mode: test ? 'test' : 'live',
      scopes,
      expiresAt: expiresInDays === undefined ? (expiresAt ?? null) : daysAfter(operator.deps.clock(), expiresInDays),
      createdById: createdBy === undefined ? null : await findMemberId(operator, organization.id, createdBy),
    })
    const text = `${key}\n\nSave it now: it is not stored, and not shown again.\n\n${toTable([apiKey], operator.deps.clock())}`
    return { text, json: { key, ...toJson(apiKey) } }
  })

const changeKey = (id: string, { manage, limit, scopes, networks, ...options }: KeyChangeOptions): Promise<void> =>
  runCommand(options, async ({ operator }) => {
    if (!isUuid(id)) throw new Error(`There is no key ${id}.`)
    const change: KeyChange = {
      ...(manage !== undefined && { rights: manage ? ['manage'] : [] }),
      ...(limit !== undefined && { requestsPerMinute: limit === false ? null : limit }),
      ...(scopes !== undefined && { scopes: scopes || [] }),
      ...(networks !== undefined && { networks: networks || [] }),
    }
    if (Object.keys(change).length === 0)
      throw new Error('Say what is to change: --manage, --scopes, --networks, --limit, or one of them with --no-.')
    const apiKey = await changeApiKey(operator, id, change)
    return { text: toTable([apiKey], operator.deps.clock()), json: toJson(apiKey) }
  })

function collectNetworks(text: string, earlier: string[] | boolean | undefined): string[] {
  const networks = [...(Array.isArray(earlier) ? earlier : []), text]
  if (readNetwork(text) === null) throw new InvalidArgumentError('It is neither an address nor a network such as 203.0.113.0/24.')
  return networks
}

const toTable = (keys: ApiKeySummary[], now: Date): string =>
  table(
    ['ID', 'NAME', 'KEY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'FROM', 'MAY', 'NETWORKS', 'A MINUTE'],
    keys.map((key) => [
      key.id,
      key.name,
      `ak_${key.mode}_…${key.lastFour}`,
      stateOf(key, now),
      key.createdAt.toISOString(),
      key.expiresAt?.toISOString() ?? 'never',
      key.lastUsedAt?.toISOString() ?? 'never',
      key.lastUsedFrom ?? '-',
      (key.scopes.length > 0 ? key.scopes : key.rights).join(' ') || '-',
      key.networks.join(' ') || '-',
      key.requestsPerMinute?.toString() ?? '-',
    ]),
  )

function stateOf({ revokedAt, expiresAt }: ApiKeySummary, now: Date): string {
  if (revokedAt) return 'revoked'
  return expiresAt && expiresAt <= now ? 'expired' : 'active'
}

const toJson = (key: ApiKeySummary) => ({
  id: key.id,
  name: key.name,
  mode: key.mode,
  lastFour: key.lastFour,
  createdAt: key.createdAt,
  expiresAt: key.expiresAt,
  revokedAt: key.revokedAt,
  lastUsedAt: key.lastUsedAt,
  lastUsedFrom: key.lastUsedFrom,
  rights: key.rights,
  scopes: key.scopes,
  networks: key.networks,
  requestsPerMinute: key.requestsPerMinute,
})
