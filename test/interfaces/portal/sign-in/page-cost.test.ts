import { expect, it } from 'vitest'
import { signInAs } from '../../../support/portal.ts'
import { recordQueries } from '../../../support/queries.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

it('authenticates a request with one statement under all requirements of the organization', async () => {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const now = service.clock.now()
  const rules = { ssoEnforcedAt: null, secondFactorFrom: null, networks: ['127.0.0.0/8'], idleMinutes: 60, updatedAt: now }
  // A page that queries nothing but the member's access.
  const cost = async () => {
    const { result, queries } = await recordQueries(async () => {
      const { status } = await admin.get(`${admin.home}assessments/new`)
      return status
    })
    return { status: result, texts: queries.map(({ text }) => text) }
  }
  await cost()
  const plain = await cost()
  await service.db.organizationSecurity.create({ data: { organizationId: organization.id, ...rules } })
  const ruled = await cost()
  expect([plain.status, ruled.status]).toEqual([200, 200])
  expect(ruled.texts.length).toBe(plain.texts.length)
  expect(plain.texts.filter((text) => /sessions/.test(text))).toHaveLength(1)
  expect(plain.texts.filter((text) => /sign_in_providers|second_factors|identities/.test(text))).toEqual([])
})
