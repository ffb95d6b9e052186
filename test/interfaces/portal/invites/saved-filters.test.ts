import { expect, it } from 'vitest'
import { fieldsIn, mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

async function setUp() {
  const organization = await service.make.organization()
  await service.make.invite(await service.make.assessment(organization.id))
  const [admin, other, grader] = [
    await signInAs(service, organization.id, ['admin']),
    await signInAs(service, organization.id, ['admin']),
    await signInAs(service, organization.id, ['grader']),
  ]
  /** Names and queries of the saved filters on a member's page. */
  const shownTo = async (person: typeof admin, query = '') => {
    const { text } = await person.get(`${person.home}invites${query}`)
    const nav = /<nav [^>]*aria-label="Saved filters">(.*?)<\/nav>/s.exec(text)?.[1] ?? ''
    return [...nav.matchAll(/<a [^>]*href="([^"]+)"[^>]*>(?:<svg.*?<\/svg>)?([^<]+)<\/a>/gs)].map(([, href, name]) => [
      name,
      href!.split('?')[1],
    ])
  }
  const save = (person: typeof admin, fields: Record<string, string>) => person.post(`${person.home}invites/filters`, fields)
  return { organization, admin, other, grader, shownTo, save }
}

it('shows saved filters to their author, and shared ones to everybody who sees all invites', async () => {
  const { admin, other, grader, shownTo, save } = await setUp()
  const page = await admin.get(`${admin.home}invites?state=pending&page=2&sort=expires`)
  expect(page.text).toContain('Save filter')
  const answer = await save(admin, { filterName: ' Soon ', query: 'state=pending&page=2&sort=expires&x=1' })
  expect([answer.status, answer.headers.location]).toEqual([303, `${admin.home}invites?state=pending&sort=expires`])
  await save(admin, { filterName: 'Revoked', query: 'state=revoked', shared: 'yes' })
  const own = ['Soon', 'state=pending&amp;sort=expires']
  const shared = ['Revoked', 'state=revoked']
  expect(await shownTo(admin)).toEqual([shared, own])
  expect([await shownTo(other), await shownTo(grader)]).toEqual([[shared], []])
  await save(grader, { filterName: 'Mine', query: 'state=started', shared: 'yes' }) // is not shared, because graders do not see all invites
  expect([await shownTo(other), await shownTo(grader)]).toEqual([[shared], [['Mine', 'state=started']]])
  // Saving the same name again replaces the filter.
  await save(admin, { filterName: 'Soon', query: 'state=accepted' })
  expect(await shownTo(admin)).toEqual([shared, ['Soon', 'state=accepted']])
  const { text } = await admin.get(`${admin.home}invites?state=accepted&page=1`)
  expect(text).toMatch(/aria-current="page"><svg.*?<\/svg>Soon</s)
  expect(text).not.toContain('Save filter')
})

it('lets authors delete their filters, and members who manage others also shared ones', async () => {
  const { admin, other, grader, shownTo, save, organization } = await setUp()
  await save(admin, { filterName: 'Own', query: 'state=pending' })
  await save(admin, { filterName: 'Shared', query: 'state=revoked', shared: 'yes' })
  const idOf = async (name: string) =>
    (await service.db.savedFilter.findFirstOrThrow({ where: { organizationId: organization.id, name } })).id
  const remove = async (person: typeof admin, name: string) =>
    person.post(`${person.home}invites/filters/${await idOf(name)}/delete`)
  await remove(grader, 'Shared')
  await remove(other, 'Own')
  expect(await shownTo(admin)).toHaveLength(2)
  expect((await other.get(`${other.home}invites?state=revoked`)).text).toContain('Delete filter')
  await remove(other, 'Shared')
  await remove(admin, 'Own')
  expect(await shownTo(admin)).toEqual([])
})

it('reports an invalid name of a filter, and the maximum number', async () => {
  const { admin, save, organization } = await setUp()
  const refused = await save(admin, { filterName: '', query: 'state=pending' })
  expect([refused.status, mistakesIn(refused)]).toEqual([422, ['Enter the name.']])
  expect(fieldsIn(refused)).toMatchObject({ query: 'state=pending' })
  expect(mistakesIn(await save(admin, { filterName: 'x'.repeat(61), query: '' }))).toEqual([
    'The name has more than 60 characters.',
  ])
  const now = service.clock.now()
  const of = {
    organizationId: organization.id,
    memberId: admin.member.id,
    query: 'state=pending',
    isShared: false,
    createdAt: now,
  }
  await service.db.savedFilter.createMany({
    data: Array.from({ length: 20 }, (_, i) => ({ ...of, id: service.deps.newId(), name: `${i}` })),
  })
  expect(mistakesIn(await save(admin, { filterName: 'One more', query: '' }))).toEqual(['The name: at most 20.'])
  expect((await save(admin, { filterName: '7', query: '' })).status).toBe(303)
})
