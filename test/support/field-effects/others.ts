import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { candidateOf } from '../candidate.ts'
import { DAY_MS } from '../factories.ts'
import { type Effects, effect, IDENTITY, type World } from './effect.ts'

/** Fields of the import format without a field policy. */
export function otherEffects({ service, organization, alternate, page, v1, admin }: World) {
  const { make, db, clock, deps } = service
  const at = (days: number) => new Date(clock.now().getTime() + days * DAY_MS)
  const tags = () => page('tags')
  type TagData = Parameters<typeof make.tag>[1]
  const tagOrder = async (field: 'createdAt' | 'updatedAt', value: Date, sort: string) => {
    const [first, other] = [
      await make.tag(organization.id, { [field]: at(-5) }),
      await make.tag(organization.id, { [field]: value }),
    ]
    const ids = (await v1.get(`/tags?sort=${sort}&order=asc&limit=100`)).body.tags.map(({ id }: { id: string }) => id)
    return ids.indexOf(other.id) < ids.indexOf(first.id)
  }
  const tagCount = async (query: string, data: TagData) => {
    await make.tag(organization.id, data)
    return (await alternate.get(`/tags?${query}`)).body.count
  }
  const keyStatus = async (data: { mode?: 'live' | 'test'; expiresAt?: Date; revokedAt?: Date }) => {
    const { key, apiKey } = await createApiKey(service.system, {
      organizationId: organization.id,
      name: deps.newId(),
      mode: data.mode ?? 'live',
    })
    await db.apiKey.update({ where: { id: apiKey.id }, data })
    return (await service.v1(key).get('/members')).status
  }

  const organizations: Effects<string> = {
    id: IDENTITY,
    name: effect(
      async (name: string) => {
        const { id } = await make.organization()
        await db.organization.update({ where: { id }, data: { name } })
        return (await candidateOf(service, await make.invite(await make.assessment(id))).open()).text.includes('Northwind')
      },
      ['Northwind', true],
      ['Acme', false],
    ),
    tier: effect(
      async (tier: 'standard' | 'enterprise') => {
        const { key } = await make.organization({ tier })
        return (await service.v1(key).get('/members')).headers['ratelimit-limit']
      },
      ['standard', '1000000'],
      ['enterprise', '2000000'],
    ),
  }
  const keys: Effects<string> = {
    id: IDENTITY,
    key: IDENTITY,
    name: effect(
      async (name: string) => {
        await createApiKey(service.system, { organizationId: organization.id, name, mode: 'live' })
        return (await page('settings/integrations')).includes('Applicant tracking')
      },
      ['Other', false],
      ['Applicant tracking', true],
    ),
    mode: effect(
      async (mode: 'live' | 'test') => {
        const { key } = await createApiKey(service.system, { organizationId: organization.id, name: deps.newId(), mode })
        const invite = await make.invite(await make.assessment(organization.id))
        return (await service.v1(key).get(`/invites/${invite.id}`)).status
      },
      ['live', 200],
      ['test', 404],
    ),
    expiresAt: effect((expiresAt: Date) => keyStatus({ expiresAt }), [at(1), 200], [at(-1), 401]),
    revokedAt: effect((revokedAt: Date | null) => keyStatus(revokedAt ? { revokedAt } : {}), [null, 200], [at(-1), 401]),
    createdById: effect(
      async (isTheirs: boolean) => {
        const { id } = await make.member(organization.id)
        const name = `Key of ${id}`
        await createApiKey(service.system, {
          organizationId: organization.id,
          name,
          mode: 'live',
          createdById: isTheirs ? id : admin.member.id,
        })
        return (await page(`members/${id}`)).includes(name)
      },
      [true, true],
      [false, false],
    ),
  }
  const tag: Effects<string> = {
    id: IDENTITY,
    name: effect((name: string) => tagCount('name=Urgent', { name }), ['Other', 0], ['Urgent', 1]),
    color: effect(
      async (color: string) => {
        await make.tag(organization.id, { color })
        return (await tags()).includes('fill="#123456"')
      },
      ['#654321', false],
      ['#123456', true],
    ),
    description: effect(
      async (description: string) => {
        await make.tag(organization.id, { description })
        return (await tags()).includes('Asked quarterly')
      },
      ['Asked once', false],
      ['Asked quarterly', true],
    ),
    icon: effect(
      async (icon: string) => {
        await make.tag(organization.id, { icon })
        return (await tags()).includes('🎧')
      },
      ['star', false],
      ['🎧', true],
    ),
    createdById: effect(
      async (isTheirs: boolean) => {
        const { id } = await make.member(organization.id)
        return tagCount(`created_by=${id}`, { createdById: isTheirs ? id : null })
      },
      [true, 1],
      [false, 0],
    ),
    createdAt: effect((value: Date) => tagOrder('createdAt', value, 'created_at'), [at(-6), true], [at(-4), false]),
    updatedAt: effect((value: Date) => tagOrder('updatedAt', value, 'updated_at'), [at(-6), true], [at(-4), false]),
  }
  return { organizations, apiKeys: keys, tags: tag }
}
