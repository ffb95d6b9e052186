import { expect, it } from 'vitest'
import { mistakesIn } from '../../support/forms.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

async function setUp() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const member = await service.make.member(organization.id, { roles: ['admin', 'grader'] })
  const tag = await service.make.tag(organization.id, { name: 'Spring' })
  const made = await admin.post(`${admin.home}settings/webhooks`, { url: 'https://example.com/first', mode: 'live' })
  const webhook = /settings\/webhooks\/[\w-]{36}/.exec(made.text)![0]
  return { organization, admin, member, tag, webhook }
}

type SampleOrganization = Awaited<ReturnType<typeof setUp>>
type Fields = Record<string, string | string[]>
type Case = { page: (made: SampleOrganization) => string; theirs: Fields; mine: Fields; mistakes: string[] }

const own = (field: string, value: string) =>
  expect.stringMatching(
    new RegExp(`^You changed ${field} in another tab, on .+ UTC, to ${value}. Saving again replaces that change.$`),
  )
const pages: Record<string, Case> = {
  'a member': {
    page: ({ member }) => `members/${member.id}`,
    theirs: { roles: ['grader'] },
    mine: { roles: ['admin', 'grader'], department: 'Sales' },
    mistakes: [own('the department', 'empty'), own('the list of roles', '“grader”')],
  },
  'a tag': {
    page: ({ tag }) => `tags/${tag.id}`,
    theirs: { name: 'Theirs', color: '#000000' },
    mine: { name: 'Mine', color: '#000000' },
    mistakes: [own('the name', '“Theirs”')],
  },
  'a webhook': {
    page: ({ webhook }) => webhook,
    theirs: { url: 'https://example.com/theirs', mode: 'live' },
    mine: { url: 'https://example.com/mine', mode: 'live' },
    mistakes: [own('the URL', '“https://example.com/theirs”')],
  },
  'the settings of an organization': {
    page: () => 'settings/organization',
    theirs: { replyTo: 'theirs@example.com' },
    mine: { replyTo: 'mine@example.com' },
    mistakes: [own('the reply-to address', '“theirs@example.com”')],
  },
}

const seenIn = ({ text }: { text: string }): string => /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? 'nothing'

it.each(Object.entries(pages))('protects %s from an outdated form, and names the author of the change', async (_what, of) => {
  const made = await setUp()
  const { admin, organization } = made
  const page = `${admin.home}${of.page(made)}`
  const save = (fields: Fields) => admin.post(page, { name: organization.name, ...fields })
  const seen = seenIn(await admin.get(page))
  service.clock.advance(1_000)
  expect((await save({ ...of.theirs, seen })).status).toBe(303)
  const refused = await save({ ...of.mine, seen })
  expect([refused.status, mistakesIn(refused)]).toEqual([422, of.mistakes])
  expect((await save({ ...of.mine, seen: seenIn(refused) })).status).toBe(303)
})
